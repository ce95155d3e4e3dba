"""Cases of one test at once: each waits most of its time for what Cluster API does."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Case = TypeVar("Case")

_AT_ONCE = 4
"""More would only wait for each other on a machine with two cores, and for longer than a test waits."""
_THREADS = 8 * _AT_ONCE
"""Whoever waits by a watch has a thread to themselves: with the loop's own few, some would wait for others' ends."""


async def together(cases: Iterable[Case], run: Callable[[Case], Awaitable[None]]) -> None:
    """Run all cases, some at a time; the first that fails ends the others, and its error names it."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
    turns = asyncio.Semaphore(_AT_ONCE)

    async def named(case: Case) -> None:
        async with turns:
            try:
                await run(case)
            except Exception as error:
                error.add_note(f"in the case {case!r}")
                raise

    async with asyncio.TaskGroup() as group:
        for case in cases:
            group.create_task(named(case))
