"""Pauses are judged by numbers alone, so that a busy machine neither excuses nor blames anybody in these tests."""

import pytest

from slipway.conformance.checks.outage import grow
from slipway.conformance.checks.registration import untimely
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.registered import Pause, pauses
from slipway.conformance.registry import Call

CALL = 0.01
"""Seconds of a call. The suite's registry asks for a renewal after 0.7 seconds; a fifth later is 0.84."""

EARLY, LATE = (
    "it renewed before `renew_after` had passed",
    "it renewed each time after `renew_after` and a fifth had passed",
)


@pytest.mark.parametrize(
    ("found", "wrong", "reason"),
    [
        ([0.70, 0.77, 0.84], "", "from `renew_after` to a fifth later"),
        ([0.84, 0.84, 0.84], "", "a fifth later each time"),
        ([0.885, 0.885, 0.885], "", "and a twentieth of a second"),
        ([0.695, 0.8, 0.8], "", "a timer that counts milliseconds"),
        ([0.77, 0.68, 0.8], EARLY, "once too early"),
        ([0.6, 0.6, 0.6], EARLY, "a tenth of a second too early"),
        ([0.94, 0.94, 0.94], LATE, "a tenth of a second too late"),
        ([0.90, 0.94, 1.2], LATE, "too late by more than a twentieth"),
        ([0.94, 0.84, 1.9], "", "once in time"),
        ([0.8, 0.8, 2.0], "it let the lease end before it renewed it", "once after the end"),
    ],
)
def test_times_of_renewals(found: list[float], wrong: str, reason: str) -> None:
    """They are tried to the hundredth of a second."""
    assert untimely([Pause(seconds) for seconds in found], call=CALL) == wrong, reason


def test_renewals_where_calls_take_long() -> None:
    """A renewal may be late by two of them."""
    assert untimely([Pause(1.03)] * 3, call=0.1) == ""
    assert untimely([Pause(1.05)] * 3, call=0.1) == LATE


def test_renewals_on_a_slow_machine() -> None:
    """All limits are as many times as long as the machine is slower."""
    assert untimely([Pause(1.5)] * 3, call=CALL, slow=2.0) == ""
    assert untimely([Pause(1.9)] * 3, call=CALL, slow=2.0) == LATE
    assert untimely([Pause(0.8), Pause(3.9)], call=CALL, slow=2.0) == ""
    assert untimely([Pause(0.685)] * 3, call=CALL, slow=2.0) == ""
    assert untimely([Pause(0.6)] * 3, call=CALL, slow=2.0) == EARLY


def test_renewals_on_a_busy_machine() -> None:
    """What the suite was late itself is no fault, in the pause in which it was."""
    late = [Pause(0.94), Pause(0.94, late=0.04), Pause(1.2)]
    assert untimely(late, call=CALL) == LATE
    assert untimely([*late, Pause(0.94, late=0.1)], call=CALL) == ""
    assert untimely([Pause(0.6, late=0.2), *late], call=CALL) == EARLY
    assert untimely([Pause(0.8), Pause(2.2, late=0.3)], call=CALL) == ""


@pytest.mark.parametrize(
    ("found", "wanted", "reason"),
    [
        ([0.2, 0.4, 0.8, 1.6], True, "doubled"),
        ([0.1, 0.4, 0.5, 1.8], True, "doubled, half of it by chance"),
        ([0.25, 0.25, 0.5, 0.5, 1.0], True, "two of each"),
        ([0.5, 1.0, 1.0, 1.0], True, "up to a second"),
        ([0.4, 0.2, 1.1, 0.3, 1.9], True, "doubled, all of it by chance"),
        ([0.9, 1.1, 1.3, 2.0], True, "too few to tell"),
        ([0.9, 0.9, 0.9, 0.9], True, "too few to tell, though they are alike"),
        ([0.5] * 7, False, "always the same"),
        ([0.5, 0.6, 0.55, 0.58, 0.6, 0.52], False, "always the same, with jitter"),
        ([0.7, 0.6, 0.85, 0.75, 0.8], False, "the same with more of it"),
    ],
)
def test_growing_pauses(found: list[float], wanted: bool, reason: str) -> None:
    """Jitter is no growth, and an upper bound is no lack of it; a busy machine makes no provisioner fail."""
    assert grow([Pause(seconds) for seconds in found]) is wanted, reason


def test_pauses_between_calls() -> None:
    """Each pause knows what was late in it, and nothing of the others."""
    now = 10.8
    heartbeat = Heartbeat(now=lambda: now)
    heartbeat.notice(0.3)
    now = 20.0
    calls = [Call("RenewLease", at, None) for at in (9.0, 10.0, 11.0, 12.0)]
    assert pauses(calls, heartbeat) == [Pause(1.0), Pause(1.0, late=pytest.approx(0.3)), Pause(1.0)]
