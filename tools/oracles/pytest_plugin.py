"""The ``engine`` fixture: a test names the engine that it runs, and is skipped without it.

``engine("root-trixie")`` skips where the engine was not built; with ``SLIPWAY_REQUIRE_ENGINES=1`` it fails,
so that a complete run cannot pass by leaving things out. What was skipped is told at the end in one line a reason,
with the number of its tests: a thousand places would hide the few reasons. Load it with ``pytest_plugins =
["tools.oracles.pytest_plugin"]`` or ``-p tools.oracles.pytest_plugin``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import pytest

from tools.oracles import availability
from tools.oracles.failures import EngineMissing

REQUIRED = "SLIPWAY_REQUIRE_ENGINES"


@pytest.fixture(scope="session")
def engine() -> Callable[..., None]:
    """A function: the engines with these names must be there for the test to run."""

    def need(*names: str) -> None:
        for name in names:
            try:
                availability.require(name)
            except EngineMissing as missing:
                if os.environ.get(REQUIRED) == "1":
                    pytest.fail(str(missing), pytrace=False)
                pytest.skip(str(missing))

    return need


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell each reason for which tests did not run, once, the one of most tests first."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("not run, and why")
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} {'test' if count == 1 else 'tests'}: {reason}")


def _reason(report: pytest.TestReport) -> str:
    """The words given with the skip; pytest keeps them behind the place."""
    words = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return words.removeprefix("Skipped: ")
