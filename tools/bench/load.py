"""Puts load on one call and tells how long the answers took."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.contract.errors import SlipwayError
from tools.bench.process_figures import cpu_seconds

Call = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Figures:
    """What a load gave. Times in milliseconds; rates per second of wall time and of CPU time."""

    calls: int
    p50: float
    p99: float
    per_second: float
    per_server_cpu_second: float
    client_cpu_ms_per_call: float


async def measure(call: Call, *, calls: int, in_flight: int, server_pid: int) -> Figures:
    """Make so many calls, so many at a time, after a warm-up of a tenth."""
    for _ in range(max(5, calls // 10)):
        await call()
    durations: list[float] = []
    remaining = iter(range(calls))

    async def worker() -> None:
        for _ in remaining:
            began = time.perf_counter()
            await call()
            durations.append((time.perf_counter() - began) * 1000)

    server_before, client_before = cpu_seconds(server_pid), cpu_seconds(os.getpid())
    began = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    elapsed = time.perf_counter() - began
    server_cpu = cpu_seconds(server_pid) - server_before
    client_cpu = cpu_seconds(os.getpid()) - client_before
    durations.sort()
    return Figures(
        calls=calls,
        p50=round(durations[len(durations) // 2], 2),
        p99=round(durations[min(len(durations) - 1, len(durations) * 99 // 100)], 2),
        per_second=round(calls / elapsed, 1),
        per_server_cpu_second=round(calls / server_cpu, 1) if server_cpu else 0.0,
        client_cpu_ms_per_call=round(client_cpu / calls * 1000, 2),
    )


async def steady(call: Call, *, calls: int, in_flight: int, server_pid: int) -> Figures:
    """Measure three times, and give the one between by the server's CPU time: a machine is not always as fast."""
    runs = [await measure(call, calls=calls, in_flight=in_flight, server_pid=server_pid) for _ in range(3)]
    return sorted(runs, key=lambda run: run.per_server_cpu_second)[1]


async def watched(asked: Awaitable[Message], health: Call) -> tuple[float, int, float]:
    """Ask something once, and ask for health all the while.

    Gives the seconds until the answer, its bytes (0 when it was refused), and the milliseconds of the slowest health
    check.
    """
    began = time.perf_counter()
    answer = asyncio.ensure_future(asked)
    worst = 0.0
    while not answer.done():
        start = time.perf_counter()
        await health()
        worst = max(worst, (time.perf_counter() - start) * 1000)
        await asyncio.wait({answer}, timeout=0.01)
    seconds = time.perf_counter() - began
    size = 0 if isinstance(answer.exception(), SlipwayError) else answer.result().ByteSize()
    return round(seconds, 2), size, round(worst, 1)
