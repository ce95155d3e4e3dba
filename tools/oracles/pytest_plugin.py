"""The ``engine`` fixture: a test names the engine that it runs, and is skipped without it.

``engine("root-trixie")`` skips where the engine was not built; with ``SLIPWAY_REQUIRE_ENGINES=1`` it fails, so that a
complete run cannot pass by leaving things out. With ``--quick``, as ``make test`` runs, only engines are used that are
one program, and each test is skipped that is marked ``engine``, ``boots`` or ``long``: a newcomer's test takes the same
few minutes whatever is built. The end of a run has one line for each reason to skip, with the number of its tests: a
thousand places would hide the few reasons. Load it with ``pytest_plugins = ["tools.oracles.pytest_plugin"]`` or
``-p tools.oracles.pytest_plugin``.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable

import pytest

from tools.oracles import availability
from tools.oracles.failures import EngineMissing

REQUIRED = "SLIPWAY_REQUIRE_ENGINES"
QUICK = "--quick"
LEFT_OUT = "they run real programs or take long: make test-affected runs those that a change affects, make test-all all"
SKIPPED_IN_QUICK = frozenset({"engine", "boots", "long"})
"""A quick run leaves out what has one of them."""
_PROGRAMS = frozenset(
    {"containerd-config", "coredns", "grpcurl", "k0s-1.27", "kubeadm-1.30", "kubeadm-1.34", "promql", "promtool"}
)
"""Engines that are one program which answers at once: a quick run takes them where they are built."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option."""
    parser.getgroup("slipway").addoption(
        QUICK, action="store_true", help="leave out the tests that run engines, boot machines or take long"
    )


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave a marked test out of a quick run before anything is set up for it."""
    if any(item.get_closest_marker(mark) for mark in SKIPPED_IN_QUICK):
        skip_if_quick(item.config)


def skip_if_quick(config: pytest.Config) -> None:
    """Skip the test that asks, in a quick run."""
    if config.getoption("quick"):
        pytest.skip(LEFT_OUT)


@pytest.fixture(scope="session")
def engine(pytestconfig: pytest.Config) -> Callable[..., None]:
    """A function: the engines with these names must be there for the test to run."""

    def need(*names: str) -> None:
        if not _PROGRAMS.issuperset(names):
            skip_if_quick(pytestconfig)
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
