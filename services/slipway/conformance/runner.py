"""Runs the checks: in order, each within a time, telling progress."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from slipway.conformance.check import Check, Need
from slipway.conformance.clauses import Level, clauses
from slipway.conformance.exchanges import Exchange
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.outcome import Broken, CheckEnd, Crashed, NotRun, Unjudged, Unverified
from slipway.conformance.session import Session

TIME_IS_OVER = "the time that --time gives was over"

CHECK_SECONDS = 90.0
"""Most time for one check; on an idle machine the longest needs a tenth of it."""

_AT_ONCE = 4


class Ending(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    NOT_RUN = "not run"
    UNVERIFIED = "unverified"


@dataclass(frozen=True, slots=True)
class Result:
    """A check and how it ended.

    Attributes:
        check: the check.
        ending: how it ended.
        found: what was found, or why it was not run.
        unjudged: whether this run could not judge it: the machine was too slow, the time was over, or the provisioner
            had gone.
    """

    check: Check
    ending: Ending
    found: tuple[str, ...] = ()
    unjudged: bool = False


Progress = Callable[[Result, int, int], None]


async def run(session: Session, checks: Iterable[Check], *, progress: Progress | None = None) -> list[Result]:
    """Run checks and give their results, in the order of the checks.

    Those that mostly wait run together, after the others; the load check comes last and alone.
    """
    wanted = list(checks)
    if session.options.seconds:
        session.until = time.monotonic() + session.options.seconds
    done: dict[str, Result] = {}

    async def one(check: Check) -> None:
        done[check.id] = await result(session, check)
        if progress is not None:
            progress(done[check.id], len(done), len(wanted))

    for check in wanted:
        if not check.slow:
            await one(check)
    gate = asyncio.Semaphore(_AT_ONCE)

    async def gated(check: Check) -> None:
        async with gate:
            await one(check)

    # Those of registration take longest, so they begin.
    await asyncio.gather(*(gated(check) for check in reversed(wanted) if check.slow))
    return [done[check.id] for check in wanted]


async def result(session: Session, check: Check) -> Result:
    """Run one check and give how it ended."""
    lacking = _lacking(session, check)
    if session.gone:
        return Result(check, Ending.NOT_RUN, (session.gone,), unjudged=True)
    if lacking:
        return Result(check, Ending.NOT_RUN, (f"it needs {', '.join(sorted(lacking))}",))
    since = time.monotonic()
    remaining = session.until - since
    if remaining <= 0:
        return Result(check, Ending.NOT_RUN, (TIME_IS_OVER,), unjudged=True)
    session.subject.exchanges.begin()
    work = asyncio.ensure_future(_ends(session, check))
    try:
        late: CheckEnd = NotRun(TIME_IS_OVER)
        most = CHECK_SECONDS
        if Need.BOOT in check.needs:
            most += session.options.boot_seconds * len(session.info.formats)
        if remaining < most:
            ended = await _done(work, remaining)
        else:
            ended = await session.heartbeat.within(most, lambda seconds: _done(work, seconds))
            late = Broken(f"it did not end within {most:.0f} seconds")
        ends = work.result() if ended else [late]
    finally:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    ends = _judged(session.heartbeat, ends, since)
    given_up = session.subject.given_up
    if given_up is not None and not session.gone:
        session.gone = str(given_up)
        ends = [*ends, given_up]
    said = [session.heartbeat.said(since)]
    if not check.slow and any(isinstance(end, Broken) for end in ends):
        said.append(await session.revived())
    found = _result(check, ends, said=tuple(filter(None, said)))
    if session.options.keep is not None and found.ending in (Ending.FAILED, Ending.WARNED):
        session.subject.exchanges.write(session.options.keep / check.id, more=_of_cases(session, found))
    return found


def _judged(heartbeat: Heartbeat, ends: Sequence[CheckEnd | None], since: float) -> list[CheckEnd | None]:
    """Give the ends without what this machine was too slow for: nothing is broken by that, and nothing has passed."""
    unjudged, repeated = heartbeat.unjudged(since), heartbeat.repeated(since)
    if unjudged:
        ends = [Unjudged(*end.found, unjudged) if isinstance(end, Broken) else end for end in ends]
    return [Unjudged(repeated) if repeated and end is None else end for end in ends]


def _of_cases(session: Session, found: Result) -> list[Exchange]:
    """Give the renders of the cases that a result names: they may have been tried by an earlier check."""
    names = {word.strip(":") for text in found.found for word in text.split() if word.endswith(":")}
    return [(trial.request, trial.answer) for (_, _, name), trial in session.trials.items() if name in names]


async def _done(work: "asyncio.Future[list[CheckEnd | None]]", seconds: float) -> bool:
    await asyncio.wait({work}, timeout=seconds)
    return work.done()


async def _ends(session: Session, check: Check) -> list[CheckEnd | None]:
    """Give how it ended, once, or once for each format; None where it passed."""
    if check.run is not None:
        return [await _caught(check.run(session))]
    found: list[CheckEnd | None] = []
    for info in session.info.formats:
        unfit = check.unfit(info)
        if unfit:
            found.append(_of_format(NotRun(unfit), info.format))
        elif check.run_format is not None:
            end = await _caught(check.run_format(session, info))
            found.append(None if end is None else _of_format(end, info.format))
    return found


async def _caught(work: Awaitable[None]) -> CheckEnd | None:
    try:
        await work
    except CheckEnd as end:
        return end
    except Exception as error:  # noqa: BLE001  # one check must not cost the report of all others
        # Its text may hold what a provisioner answered, secrets too.
        return Crashed(f"the check could not be finished: {type(error).__name__}")
    return None


def _of_format(end: CheckEnd, format_id: str) -> CheckEnd:
    return type(end)(*(f"{format_id}: {text.removeprefix(f'{format_id}: ')}" for text in end.found))


def _lacking(session: Session, check: Check) -> set[Need]:
    has = {
        Need.TLS: session.secure,
        Need.PROCESS: session.launcher is not None,
        Need.AUTHORITY: session.authority is not None,
        Need.BOOT: bool(session.options.boot_cmd),
    }
    return {need for need in check.needs if not has[need]}


def _result(check: Check, ends: Sequence[CheckEnd | None], *, said: tuple[str, ...]) -> Result:
    """Give the result; what is `said` of machine and subject stands beside what is broken, and changes no ending."""
    broken = [end for end in ends if isinstance(end, Broken)]
    if broken:
        crashed = any(isinstance(end, Crashed) for end in broken)
        binding = crashed or clauses()[check.clause].level is Level.MUST
        return Result(check, Ending.FAILED if binding else Ending.WARNED, (*_texts(broken), *said))
    unseen = [end for end in ends if isinstance(end, Unverified | NotRun)]
    if all(isinstance(end, NotRun) for end in ends):
        # Also when there is no format at all: a check of nothing has shown nothing.
        texts = _texts(unseen) or ("the provisioner declares no format",)
        return Result(check, Ending.NOT_RUN, texts, unjudged=TIME_IS_OVER in texts)
    if unseen:
        # One format that passes is no word about another one.
        unjudged = any(isinstance(end, Unjudged) for end in unseen)
        return Result(check, Ending.UNVERIFIED, _texts(unseen), unjudged=unjudged)
    return Result(check, Ending.PASSED)


def _texts(ends: Iterable[CheckEnd]) -> tuple[str, ...]:
    return tuple(text for end in ends for text in end.found)
