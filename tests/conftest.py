"""What all tests share: the fixtures of the real engines, and nothing of the logging of an earlier test."""

from collections.abc import Iterator

import hypothesis
import pytest
import structlog

pytest_plugins = [
    "tools.oracles.pytest_plugin",
    "tools.oracles.passed",
    "tools.shards.pytest_plugin",
    "tools.shards.quick_files",
]

# The same examples everywhere, so that a red test is red for everybody, and no clock: machines are busy. To look for
# new examples: pytest --hypothesis-profile=explore.
hypothesis.settings.register_profile("steady", deadline=None, derandomize=True)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _fresh_logging() -> Iterator[None]:
    """Forget how a test has configured logging: a level that it set would hide another one's lines."""
    yield
    structlog.reset_defaults()


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name no test after a long value: two workers must collect the same names, and what is packed holds the time."""
    if isinstance(val, str | bytes) and len(val) > 400:
        return argname if isinstance(val, bytes) else f"{val[:60]}..."
    return None


def pytest_collection_finish(session: pytest.Session) -> None:
    """Let no run begin in which groups are not kept together: their machines would be booted on both sides at once."""
    if session.config.getoption("loadgroup", default=False):
        loose = [
            item.nodeid for item in session.items if item.get_closest_marker("xdist_group") and "@" not in item.nodeid
        ]
        if loose:
            raise pytest.UsageError(f"pytest-xdist does not keep groups together with this pytest: {loose[0]}")
