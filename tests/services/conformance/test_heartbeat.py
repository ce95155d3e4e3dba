"""A busy machine: waits grow by what was measured, within a bound, and a finding stays one."""

import asyncio
import itertools
import time

import pytest

from slipway.conformance.check import Check
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.outcome import Broken, expect
from slipway.conformance.runner import Ending, result
from slipway.conformance.session import Session
from slipway.conformance.subject import Subject
from tests.services.conformance.bent import Bent
from tests.services.conformance.runs import CHECKS, session

pytestmark = pytest.mark.long


class Machine:
    """A clock that stands still, and a machine that is late by so much in each second."""

    def __init__(self, late: float) -> None:
        self.now = 100.0
        self.late = late
        self.heartbeat = Heartbeat(now=lambda: self.now)
        self.waited: list[float] = []

    async def nothing(self, seconds: float) -> bool:
        """Wait for what never comes."""
        self.waited.append(seconds)
        self.now += seconds
        self.heartbeat.notice(seconds * self.late)
        return False


@pytest.mark.parametrize(
    ("late", "most", "waited", "reason"),
    [
        (0.0, None, 10.0, "a machine that is not busy"),
        (0.04, None, 10.4, "hardly busy"),
        (0.5, None, 20.0, "half of the time"),
        (1.0, None, 30.0, "the bound"),
        (1.0, 12.0, 12.0, "a bound of the wait's own"),
    ],
)
async def test_patience(late: float, most: float | None, waited: float, reason: str) -> None:
    """A wait is longer by as much as the suite was late, at most three times as long, and its end is the same."""
    machine = Machine(late)
    assert await machine.heartbeat.within(10.0, machine.nothing, most=most) is False, reason
    assert sum(machine.waited) == pytest.approx(waited, abs=0.2), reason


@pytest.mark.parametrize(("came", "reason"), [(0, "an exit code"), (True, "a word"), (7, "another exit code")])
async def test_what_came(came: object, reason: str) -> None:
    """Exit code 0 has come, too."""
    machine = Machine(1.0)

    async def wait(seconds: float) -> object:
        await machine.nothing(seconds)
        return came

    assert await machine.heartbeat.within(10.0, wait) == came
    assert machine.waited == [10.0], reason


async def test_a_blocked_loop_is_measured() -> None:
    """What keeps the suite from running is seen, also before the next beat."""
    async with Heartbeat().beating() as heartbeat:
        await asyncio.sleep(0.2)
        since = time.monotonic()
        assert not heartbeat.said(since)
        time.sleep(0.8)  # noqa: ASYNC251  # it plays the busy machine
        then = time.monotonic()
        # From long before, so that the bound by what has passed hides nothing.
        before = heartbeat.late(since - 10)
        await asyncio.sleep(0)
        await asyncio.sleep(0.15)
        assert before > 0.5
        # The same seconds do not count twice; on a busy machine all that have passed meanwhile may be late ones, too.
        assert before <= heartbeat.late(since - 10) <= before + (time.monotonic() - then) + 0.1
        assert "this machine was busy" in heartbeat.said(since)


@pytest.mark.parametrize(
    ("since", "until", "late", "reason"),
    [
        (90.0, None, 3.0, "all that was late"),
        (90.0, 100.0, 1.0, "what was late before the end"),
        (105.0, 120.0, 2.0, "what was late after the beginning"),
        (109.5, 120.0, 2.0, "what had begun to be late before the beginning"),
        (101.0, 107.0, 0.0, "a quiet time between two late ones"),
        (99.8, 100.0, 0.2, "no more than the time itself"),
        (90.0, 109.0, 3.0, "what was already late at the end and noticed after it"),
    ],
)
def test_a_time_that_is_over(since: float, until: float | None, late: float, reason: str) -> None:
    """What was late at another time excuses nothing."""
    machine = Machine(0.0)
    machine.heartbeat.notice(1.0)
    machine.now = 110.0
    machine.heartbeat.notice(2.0)
    machine.now = 130.0
    assert machine.heartbeat.late(since, until=until) == pytest.approx(late), reason


@pytest.mark.parametrize(
    ("slowness", "waited", "judged", "reason"),
    [
        (1.0, 10.0, True, "a machine as usual"),
        (2.5, 25.0, True, "a slow one"),
        (3.0, 30.0, True, "as slow as waits allow for"),
        (8.0, 30.0, False, "slower"),
    ],
)
async def test_a_slow_machine(slowness: float, waited: float, judged: bool, reason: str) -> None:
    """A wait is as many times as long as the machine is slower; where that is not enough, nothing is judged."""
    machine = Machine(0.0)
    machine.heartbeat.slowness = lambda: slowness
    since = machine.now
    assert await machine.heartbeat.within(10.0, machine.nothing) is False
    assert sum(machine.waited) == pytest.approx(waited), reason
    assert bool(machine.heartbeat.unjudged(since)) is not judged, reason
    assert not machine.heartbeat.unjudged(machine.now + 1), "an earlier wait excuses nothing"


@pytest.mark.parametrize(("slowness", "ending"), [(1.0, Ending.FAILED), (8.0, Ending.UNVERIFIED)])
async def test_a_process_that_does_not_end(slowness: float, ending: Ending) -> None:
    """It fails, and is not judged on a machine that would need more time than the suite gives."""

    async def never(session: Session) -> None:
        ended = await session.heartbeat.within(0.1, _never)
        expect(ended, "it still runs")

    async with session(Bent()) as opened:
        opened.heartbeat.slowness = lambda: slowness
        made = await result(opened, Check("TRN-018", "never", frozenset(), run=never))
    assert made.ending is ending
    assert made.found[0] == "it still runs"


async def _never(seconds: float) -> bool:
    await asyncio.sleep(seconds)
    return False


@pytest.mark.parametrize(("slowness", "code"), [(1.0, "DEADLINE_EXCEEDED"), (3.0, "OK")])
async def test_an_answer_on_a_slow_machine(slowness: float, code: str) -> None:
    """A call that a slow machine does not answer in time is asked once more, with the time that it needs there."""
    number = itertools.count(1)

    async def slow(*_: object) -> None:
        if next(number) == 1:
            await asyncio.Event().wait()

    async with session(Bent(before=slow)) as opened:
        # One that is not begun has never been late: how slow the machine is does not depend on this one.
        again = Subject(opened.subject.endpoint, None, heartbeat=Heartbeat(slowness=lambda: slowness))
        got = await again.render(await opened.base(opened.info.formats[0]), seconds=2)
        await again.close()
    assert got.code == code


@pytest.mark.parametrize("late", [0.0, 5.0])
async def test_a_finding_stays(late: float) -> None:
    """On a busy machine it fails as well, and says so; what passes says nothing."""

    async def broken(found: Session) -> None:
        found.heartbeat.notice(late)
        raise Broken("it did not come")

    async with session(Bent()) as found:
        found.heartbeat.late = lambda _since: late  # type: ignore[method-assign]
        made = await result(found, Check("TRN-018", "broken", frozenset(), run=broken))
        passed = await result(found, CHECKS["INF-001.name"])
    busy = "this machine was busy: the suite itself was 5.0 seconds late during this check"
    assert (made.ending, made.found) == (Ending.FAILED, ("it did not come", *([busy] if late else [])))
    assert (passed.ending, passed.found) == (Ending.PASSED, ())


async def test_an_answer_in_time_needs_no_measurement() -> None:
    """How slow the machine is takes milliseconds to find out, and a run has thousands of calls."""
    measured: list[float] = []

    def slowness() -> float:
        measured.append(1.0)
        return 1.0

    async with session(Bent()) as opened:
        subject = Subject(opened.subject.endpoint, None, heartbeat=Heartbeat(slowness=slowness))
        got = await subject.render(await opened.base(opened.info.formats[0]))
        await subject.close()
    assert (got.ok, measured) == (True, [])
