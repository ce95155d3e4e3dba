"""What all tests share: the fixtures of the real engines, and nothing of the logging of an earlier test."""

from collections.abc import Iterator

import hypothesis
import pytest
import structlog

pytest_plugins = ["tools.engines.pytest_plugin"]

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
