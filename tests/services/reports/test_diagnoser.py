"""What is found in a log bundle when it arrives."""

import pytest
import structlog

from slipway.reports.bundle_intake import Diagnoser
from slipway.reports.log_reader import LogReader
from tests.services.reports.made import bundle_of

pytestmark = pytest.mark.long

NOT_FOUND = b"curl: (22) The requested URL returned error: 404\nexit 22\n"


async def test_first_reason() -> None:
    """As `slipway diagnose` finds it."""
    assert await Diagnoser().reason(bundle_of({"state/b/pre-00.failed": NOT_FOUND})) == "DownloadNotFound"


async def test_unknown_logs_have_no_reason() -> None:
    """The logs are kept in any case."""
    assert await Diagnoser().reason(bundle_of({"x.log": b"nothing of note\n"})) == ""
    assert await Diagnoser().reason(b"no archive") == ""


async def test_large_answers_have_no_reason() -> None:
    """An answer over its limit is as one that cannot be read."""
    bounded = Diagnoser(LogReader(largest=10))
    assert await bounded.reason(bundle_of({"state/b/pre-00.failed": NOT_FOUND})) == ""


async def test_logs_do_not_wait_for_others() -> None:
    """A bundle that takes long to read does not keep those behind it from being stored: they have no reason then.

    The log says so, once for each, and has nothing of what is in them.
    """
    with structlog.testing.capture_logs() as logs:
        assert await Diagnoser(seconds=0.0).reason(bundle_of({"state/b/pre-00.failed": NOT_FOUND})) == ""
    (entry,) = logs
    assert entry == {
        "event": "logs kept without a diagnosis, which took too long",
        "log_level": "warning",
        "seconds": 0.0,
    }
