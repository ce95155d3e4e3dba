"""A provisioner that takes few calls and says so, as the contract lets it: nothing is held against it."""

import pytest

from slipway.conformance.runner import Ending, result
from slipway.conformance.subject import Subject
from tests.services.conformance.mutants.limits import crowded
from tests.services.conformance.runs import CHECKS, session

UNAVAILABLE = 14


@pytest.mark.parametrize("check", ["RND-003.at-once", "LIM-009.at-once"])
async def test_a_refusal_with_a_delay_is_repeated(check: str) -> None:
    """A slow machine has more calls in flight than a fast one; which it is does not decide the verdict."""
    few = crowded(code=UNAVAILABLE, reason="OVERLOADED", retry=True)
    async with session(few) as open_session:
        ended = await result(open_session, CHECKS[check])
    assert (ended.ending, ended.found) == (Ending.PASSED, ())


async def test_a_refusal_for_ever_is_a_failure() -> None:
    """Who never takes a call does not render; the suite ends its patience."""
    never = crowded(code=UNAVAILABLE, reason="OVERLOADED", retry=True, most=0)
    async with session(never) as open_session:
        open_session.subject = Subject(open_session.subject.endpoint, None, overloaded_seconds=0.1)
        ended = await result(open_session, CHECKS["RND-001.odd-tags"])
        await open_session.subject.close()
    assert ended.ending is Ending.FAILED
    assert "UNAVAILABLE/OVERLOADED" in ended.found[0]
