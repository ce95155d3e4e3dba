"""What pytest knows of shards: a test that needs an engine belongs to one, and machines may boot a second time.

``--retry-machines`` gives the tests that are marked ``boots`` one more try, which pytest names and counts as a rerun.
``--outcomes-to FILE`` keeps what became of each test, so that a run can tell which shards passed in full.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from tools.oracles.pytest_plugin import SKIPPED_IN_QUICK
from tools.shards import shard_map

_SHOWN = 3000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare both options."""
    group = parser.getgroup("slipway")
    group.addoption("--retry-machines", action="store_true", help="give tests that boot machines a second try")
    group.addoption("--outcomes-to", type=Path, metavar="FILE", help="keep the outcome of each test in FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to keep outcomes, in the one process that hears of all tests."""
    if config.getoption("outcomes_to") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Outcomes(config.getoption("outcomes_to")))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let machines boot again, and first: one that began last would leave one processor idle for minutes at the end."""
    items.sort(key=_place)
    for item in items:
        if config.getoption("retry_machines") and item.get_closest_marker("boots"):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail a test that no gate would run with what it needs, with or without its engine."""
    file = item.nodeid.partition("::")[0]
    if shard_map.is_test(file) and not _owner(file) and _needs_more(item):
        pytest.fail(
            f"needs an engine or much time, and its file is in no shard: add it to {shard_map.FILE}", pytrace=False
        )


class Outcomes:
    """Hears of every test, and writes at the end what became of it."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._outcomes: dict[str, dict[str, object]] = {}
        self._first_tries: list[pytest.TestReport] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the three parts of a test; a part that is not well decides."""
        known = self._outcomes.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0, "reruns": 0})
        known["seconds"] = float(str(known["seconds"])) + report.duration
        if report.outcome == "rerun":  # type: ignore[comparison-overlap]  # pytest-rerunfailures adds it
            known["reruns"] = int(str(known["reruns"])) + 1
            self._first_tries.append(report)
        elif report.outcome != "passed":
            known["outcome"] = report.outcome

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Show why first tries failed: pytest shows the second one only."""
        for report in self._first_tries:
            terminalreporter.write_sep("_", f"first try of {report.nodeid}")
            terminalreporter.write_line(report.longreprtext[-_SHOWN:])

    def pytest_sessionfinish(self) -> None:
        """Write everything."""
        self._file.write_text(json.dumps(self._outcomes), encoding="utf-8")


def _place(item: pytest.Item) -> int:
    """Begin with the one large group, and have the others beside it; all others keep their random order."""
    if not item.get_closest_marker("boots"):
        return 2
    return 0 if item.get_closest_marker("xdist_group") else 1


@cache
def _map() -> shard_map.ShardMap:
    return shard_map.read()


@cache
def _owner(file: str) -> str | None:
    return _map().owner(file)


def _needs_more(item: pytest.Item) -> bool:
    fixtures = getattr(item, "fixturenames", ())
    return "engine" in fixtures or any(item.get_closest_marker(mark) for mark in SKIPPED_IN_QUICK)
