"""The ``engine`` fixture: a test names the engine that it runs, and is skipped in one line without it.

``engine("root-trixie")`` skips where the engine was not built; with ``SLIPWAY_REQUIRE_ENGINES=1`` it fails,
so that a complete run cannot pass by leaving things out. Load it with ``pytest_plugins =
["tools.engines.pytest_plugin"]`` or ``-p tools.engines.pytest_plugin``.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tools.engines import availability
from tools.engines.failures import EngineMissing

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
