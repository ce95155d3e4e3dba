"""LIM: many renders, one after the other and at once. The times are told as figures, and judged by a generous bound."""

import asyncio
import gc
import time

from slipway.conformance.check import Checks, Need
from slipway.conformance.outcome import NotRun, all_hold, expect
from slipway.conformance.session import Session
from slipway.conformance.trial import rich
from slipway.conformance.yardstick import judge
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

CHECKS = Checks()
AT_ONCE, TOGETHER = 64, 8
SLOW_SECONDS = 1.0
_GROWTH, _ALLOWANCE = 0.10, 8 * 1024 * 1024


@CHECKS.check_format("LIM-007")
async def usual_time(session: Session, info: provisionerpb.FormatInfo) -> None:
    """99 of 100 take less than a second."""
    request = await session.base(info)
    times = []
    for _ in range(100):
        began = time.monotonic()
        await session.subject.rendered(request)
        times.append(time.monotonic() - began)
    session.figures.add(f"{info.format}, one after the other", times, sum(times))
    text = "of 100 renders more than one took longer than a second"
    judge(text, sorted(times)[98], SLOW_SECONDS, slow=session.heartbeat.slowness)


@CHECKS.check("LIM-008")
async def many(session: Session) -> None:
    """Hundreds of renders give the same answer each."""
    requests = [await session.base(info) for info in session.info.formats]
    requests += [await rich(session, info) for info in session.info.formats]
    first = [await session.subject.rendered(request) for request in requests]
    gate = asyncio.Semaphore(TOGETHER)
    times: list[float] = []

    async def one(number: int) -> bool:
        at = number % len(requests)
        async with gate:
            got = await session.subject.render(requests[at])
        times.append(got.seconds)
        return got.ok and got.response == first[at]

    began = time.monotonic()
    right = await asyncio.gather(*map(one, range(session.options.renders)))
    session.figures.add(f"all formats, {TOGETHER} at once", times, time.monotonic() - began)
    expect(all(right), f"of {len(right)} renders {right.count(False)} failed or gave another answer")


@CHECKS.check("LIM-009")
async def at_once(session: Session) -> None:
    """64 calls at once are each answered."""
    requests = [await session.base(info) for info in session.info.formats]
    calls = (session.subject.render(requests[number % len(requests)], repeat=False) for number in range(AT_ONCE))
    got = await asyncio.gather(*calls)
    problems = set()
    for one in got:
        if one.ok:
            continue
        if (one.code, one.info.reason) != ("UNAVAILABLE", "OVERLOADED"):
            problems.add(f"of {AT_ONCE} calls at once one ended with {one.described()}")
        elif one.retry_info is None:
            problems.add("OVERLOADED came without RetryInfo")
    all_hold(sorted(problems))


@CHECKS.check("LIM-010", Need.PROCESS)
async def memory(session: Session) -> None:
    """Memory does not grow with the number of renders."""
    if session.main is None or not session.main.memory:
        raise NotRun("the memory of the process cannot be read here")
    requests = [await session.base(info) for info in session.info.formats]

    async def round_() -> None:
        for number in range(session.options.renders):
            await session.subject.rendered(_tagged(requests[number % len(requests)], number))

    await round_()
    gc.collect()
    before = session.main.memory
    await round_()
    after = session.main.memory
    grown = after - before > before * _GROWTH + _ALLOWANCE
    expect(not grown, f"its memory grew by more than a tenth over {session.options.renders} renders")


def _tagged(request: provisionerpb.RenderRequest, number: int) -> provisionerpb.RenderRequest:
    made = provisionerpb.RenderRequest()
    made.CopyFrom(request)
    made.request_tag = f"memory {number}"
    return made
