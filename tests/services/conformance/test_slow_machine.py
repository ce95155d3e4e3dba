"""A slow machine: what takes longer there than the contract gives is not judged; what is far too long still fails."""

import asyncio

import pytest

from slipway.conformance import subject, verdict, yardstick
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.outcome import Broken, Unjudged
from slipway.conformance.report import as_expected, report
from slipway.conformance.runner import Ending, Result, result
from slipway.conformance.subject import Subject
from slipway.conformance.v1alpha1 import report_pb2 as reportpb
from slipway.conformance.yardstick import judge, judge_as_usual
from tests.services.conformance.bent import Bent, Request
from tests.services.conformance.mutants import lease, limits
from tests.services.conformance.runs import CHECKS, as_usual, keeps, session

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("seconds", "factor", "end", "reason"),
    [
        (9.9, 1.0, None, "in time"),
        (10.1, 1.0, Broken, "too long"),
        (10.1, 5.0, Unjudged, "too long, and a machine as usual needs a fifth of it"),
        (50.1, 5.0, Broken, "too long on any machine"),
    ],
)
def test_times_are_judged_by_the_machine(seconds: float, factor: float, end: type[Exception], reason: str) -> None:
    """The limit is what the contract gives, times what this machine is slower."""
    if end is None:
        judge("it took long", seconds, 10.0, slow=lambda: factor)
        return
    with pytest.raises(end, match="it took long") as caught:
        judge("it took long", seconds, 10.0, slow=lambda: factor)
    assert type(caught.value) is end, reason


def test_nobody_is_faster_than_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fast machine makes no limit shorter; a slow one is as slow as its work takes."""
    monkeypatch.setattr(yardstick, "_work", lambda: None)
    assert yardstick.slowness() == 1.0
    monkeypatch.undo()
    monkeypatch.setattr(yardstick, "_USUAL_SECONDS", 1e-6)
    assert yardstick.slowness() > 100


@pytest.mark.parametrize(("factor", "ending"), [(1.0, Ending.FAILED), (5.0, Ending.UNVERIFIED)])
async def test_a_slow_render(factor: float, ending: Ending) -> None:
    """The mutant whose large bundles take long fails on a machine as usual, and is not judged on one that is slow."""
    mutant = next(mutant for mutant in limits.mutants() if mutant.name == "large bundles take long")
    async with session(mutant.bent) as opened:
        opened.heartbeat.slowness = lambda: factor
        ended = await result(opened, CHECKS["LIM-006.in-time"])
    assert ended.ending is ending, ended.found


@pytest.mark.parametrize(
    ("factor", "together", "hangs", "reason"),
    [
        (1.0, 1, True, "a machine as usual: three renders, one after the other"),
        (9.0, 1, False, "a machine on which no time can be judged"),
        (1.0, 3, False, "renders of one time are one that did not end: the machine may have stood still"),
    ],
)
async def test_renders_that_do_not_end(
    monkeypatch: pytest.MonkeyPatch, factor: float, together: int, hangs: bool, reason: str
) -> None:
    """No more are asked for after three times on a machine that is not the cause."""
    monkeypatch.setattr(subject, "RENDER_SECONDS", 0.1)

    async def never(_request: Request, _context: object) -> None:
        await asyncio.Event().wait()

    async with session(Bent(before=never)) as opened:
        opened.heartbeat.slowness = lambda: factor
        for _ in range(subject.MOST_HUNG // together):
            await asyncio.gather(*(opened.subject.render(Request()) for _ in range(together)))
        assert opened.subject.hangs is hangs, reason


class _Never:
    """Counts renders and ends none."""

    def __init__(self) -> None:
        self.renders = 0

    async def __call__(self, _request: Request, _context: object) -> None:
        self.renders += 1
        await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("late", "tries", "reason"),
    [
        (0.03, 3, "a machine that is hardly late is asked once"),
        (0.6, 6, "a busy one twice, and the second try has the time that it needs"),
    ],
)
async def test_renders_that_do_not_end_on_a_busy_machine(
    monkeypatch: pytest.MonkeyPatch, late: float, tries: int, reason: str
) -> None:
    """Three such renders suffice there as well, so that a provisioner that hangs costs no more than a minute."""
    monkeypatch.setattr(subject, "RENDER_SECONDS", 1.0)
    never = _Never()
    async with session(Bent(before=never)) as opened:
        heartbeat = Heartbeat()
        monkeypatch.setattr(heartbeat, "late", lambda _since, **_: late)
        busy = Subject(opened.subject.endpoint, None, heartbeat=heartbeat)
        for _ in range(subject.MOST_HUNG):
            await busy.render(Request())
        await busy.close()
    assert (never.renders, busy.hangs) == (tries, True), reason


async def test_renders_that_nobody_can_judge_end_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine that is too slow a provisioner that hangs costs four renders; the rest is not judged."""
    monkeypatch.setattr(subject, "RENDER_SECONDS", 0.1)
    never = _Never()
    async with session(Bent(before=never)) as opened:
        opened.heartbeat.slowness = lambda: 9.0
        ended = await result(opened, CHECKS["RND-006.sha256"])
        while not opened.gone:
            ended = await result(opened, CHECKS["RND-001.odd-tags"])
        count = never.renders
        after = await result(opened, CHECKS["RND-006.sha256"])
    assert (ended.ending, subject.UNJUDGED_HANGS in ended.found) == (Ending.UNVERIFIED, True), ended.found
    assert (after.ending, after.unjudged, never.renders) == (Ending.NOT_RUN, True, count)
    assert count <= 4 * subject.MOST_UNJUDGED, count


@pytest.mark.parametrize(
    ("problems", "factor", "end", "reason"),
    [
        ([], 9.0, None, "nothing is wrong"),
        (["it was dropped"], 1.1, Broken, "a machine as usual"),
        (["it was dropped"], 4.0, Unjudged, "a slow machine may have let it in too late"),
    ],
)
def test_what_has_no_limit_is_judged_on_a_usual_machine(
    problems: list[str], factor: float, end: type[Exception] | None, reason: str
) -> None:
    """What is wrong is said in both cases, and counts where the machine cannot be the cause."""
    if end is None:
        judge_as_usual(problems, slow=lambda: factor)
        return
    with pytest.raises(end, match="it was dropped") as caught:
        judge_as_usual(problems, slow=lambda: factor)
    assert type(caught.value) is end, reason


@pytest.mark.parametrize(("factor", "ending"), [(1.0, Ending.FAILED), (4.0, Ending.UNVERIFIED)])
async def test_calls_in_flight(factor: float, ending: Ending) -> None:
    """The mutant that drops calls at SIGTERM fails on a machine as usual, and is not judged on one that is slow."""
    mutant = next(mutant for mutant in lease.mutants() if mutant.name == "calls that are dropped")
    async with session(mutant.bent) as opened:
        opened.heartbeat.slowness = lambda: factor
        ended = await result(opened, CHECKS["REG-011.in-flight"])
    assert ended.ending is ending, ended.found


_NOT_JUDGED = Result(CHECKS["TRN-001.both-calls"], Ending.UNVERIFIED, ("it was late",), unjudged=True)
_SHOULD = Result(CHECKS["INF-003.contract"], Ending.UNVERIFIED, ("it was late",), unjudged=True)
_UNREAD = Result(CHECKS["RND-018.core-items"], Ending.UNVERIFIED, ("nobody can read it",))
_AS_FAR = reportpb.VERDICT_CONFORMANT_AS_FAR_AS_CHECKED


@pytest.mark.parametrize(
    ("ends", "verdict_", "kept", "words", "reason"),
    [
        ([_NOT_JUDGED], _AS_FAR, True, ("too slow",), "a clause that binds, and is in no profile's core"),
        ([_SHOULD], _AS_FAR, True, ("too slow",), "a clause that does not bind, of a check that may have crashed"),
        ([_UNREAD], _AS_FAR, False, ("--decode-cmd",), "what every user data must hold was not read"),
        ([_NOT_JUDGED, _UNREAD], _AS_FAR, False, ("too slow", "--decode-cmd"), "both causes"),
    ],
)
async def test_what_was_not_judged_is_open(
    ends: list[Result], verdict_: reportpb.Verdict.ValueType, kept: bool, words: tuple[str, ...], reason: str
) -> None:
    """The verdict says it, with the cause of each; a test of a real provisioner holds on a slow machine, too."""
    results = [Result(CHECKS["INF-001.name"], Ending.PASSED), *ends]
    results.sort(key=lambda end: list(CHECKS).index(end.check.id))
    async with session() as opened:
        made = report(opened, results)
        usual = report(opened, [Result(result_.check, Ending.PASSED) for result_ in results])
        listed = report(opened, results, known=[end.check.id for end in ends])
    assert (made.verdict, keeps(made)) == (verdict_, kept), reason
    assert tuple(word for word in ("too slow", "--decode-cmd") if word in verdict.as_text(made)) == words, reason
    assert (as_usual(made, usual) == usual) is (_UNREAD not in ends), reason
    assert as_expected(listed) is (_UNREAD not in ends), "what was not judged does not count as passed"


async def test_what_no_longer_answers_is_not_conformant() -> None:
    """Although nothing else is wrong: the other checks were not made."""
    async with session() as opened:
        opened.gone = "it no longer answers"
        made = report(opened, [Result(CHECKS["INF-001.name"], Ending.PASSED)])
    assert made.verdict == _AS_FAR
    assert "NOT RUN" in verdict.as_text(made)
    assert not keeps(made)
