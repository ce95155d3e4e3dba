"""A complete run after a quick one: what has passed there, and needs no engine, is not run a second time.

``--passed-to FILE`` keeps the names of the tests that passed; ``--passed-before FILE`` leaves those out, in the folders
whose tests never look for an engine by themselves, unless they ask for the ``engine`` fixture.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_FOLDERS = {"bootstrapper", "docs", "examples", "provisioners", "sdk", "services"}
"""Of `tests`. They are no paths: `tools.shards.reach` would take the folders for inputs of every test."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare both options."""
    group = parser.getgroup("slipway")
    group.addoption("--passed-to", type=Path, metavar="FILE", help="keep the names of the tests that pass in FILE")
    group.addoption("--passed-before", type=Path, metavar="FILE", help="leave out quick tests whose names are in FILE")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to keep names, in the one process that hears of all tests."""
    if config.getoption("passed_to") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Keeper(config.getoption("passed_to")))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what has passed before.

    Raises:
        FileNotFoundError: the file is not there; a complete run must not take that for a reason to run more or less.
    """
    file = config.getoption("passed_before")
    if not file:
        return
    passed = set(file.read_text(encoding="utf-8").splitlines())
    out = [item for item in items if _name(item.nodeid) in passed and _needs_no_engine(item)]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in set(out)]


class _Keeper:
    """Hears of every test and writes down, at the end, which passed."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take a test in when its call passed, and out again when what follows did not."""
        if report.when == "call" and report.passed:
            self._passed.add(_name(report.nodeid))
        elif not report.passed:
            self._passed.discard(_name(report.nodeid))

    def pytest_sessionfinish(self) -> None:
        """Write one name a line."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.write_text("".join(f"{name}\n" for name in sorted(self._passed)), encoding="utf-8")


def _name(nodeid: str) -> str:
    """The test's name without the group that pytest-xdist puts behind it."""
    return nodeid.rsplit("@", 1)[0] if "@" in nodeid.rsplit("]", 1)[-1] else nodeid


def _needs_no_engine(item: pytest.Item) -> bool:
    parts = item.nodeid.split("/")
    return parts[0] == "tests" and parts[1] in _FOLDERS and "engine" not in getattr(item, "fixturenames", ())
