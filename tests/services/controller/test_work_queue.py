"""Keys that wait, are worked on, and come again."""

import asyncio

import pytest

from slipway.controller.work_queue import WorkQueue


async def _take(queue: WorkQueue[str]) -> str:
    async with asyncio.timeout(10):
        return await queue.take()


async def test_a_key_waits_once() -> None:
    """However often it is asked for."""
    queue: WorkQueue[str] = WorkQueue()
    for key in ("a", "b", "a", "a"):
        queue.add(key)
    assert len(queue) == 2
    assert [await _take(queue), await _take(queue)] == ["a", "b"]


async def test_a_key_is_never_worked_on_twice_at_a_time() -> None:
    """What comes meanwhile is looked at afterwards, once."""
    queue: WorkQueue[str] = WorkQueue()
    queue.add("a")
    await _take(queue)
    queue.add("a")
    queue.add("a")
    assert len(queue) == 0
    queue.done("a")
    assert len(queue) == 1
    await _take(queue)
    queue.done("a")
    assert len(queue) == 0


async def test_pauses_grow_with_failures_and_are_forgotten() -> None:
    """Each failure doubles the pause, up to five minutes; a success begins anew."""
    queue: WorkQueue[str] = WorkQueue()
    pauses = [queue.add_failed("a") for _ in range(20)]
    assert pauses[0] <= 0.05
    assert pauses[6] > pauses[0] * 20
    assert max(pauses) <= 300
    queue.forget("a")
    assert queue.add_failed("a") <= 0.05


@pytest.mark.parametrize("first", ["soon", "late"])
async def test_the_earlier_of_two_times_counts(first: str) -> None:
    """A look in a moment is not put off by one in an hour, and takes the place of it."""
    queue: WorkQueue[str] = WorkQueue()
    times = [0.01, 3600.0] if first == "soon" else [3600.0, 0.01]
    for seconds in times:
        queue.add_after("a", seconds)
    assert await _take(queue) == "a"
    queue.done("a")
    assert len(queue) == 0


async def test_a_change_takes_the_place_of_a_timer() -> None:
    """What is looked at now is not looked at for the same reason later."""
    queue: WorkQueue[str] = WorkQueue()
    queue.add_after("a", 0.02)
    queue.add("a")
    await _take(queue)
    queue.done("a")
    await asyncio.sleep(0.1)
    assert len(queue) == 0


async def test_each_worker_gets_a_key() -> None:
    """Many workers, many keys: each key once, none left."""
    queue: WorkQueue[str] = WorkQueue()
    taken: list[str] = []
    complete = asyncio.Event()

    async def work() -> None:
        while True:
            key = await queue.take()
            taken.append(key)
            queue.done(key)
            if len(taken) == 200:
                complete.set()

    workers = [asyncio.ensure_future(work()) for _ in range(8)]
    keys = [str(number) for number in range(200)]
    for key in keys:
        queue.add(key)
    async with asyncio.timeout(10):
        await complete.wait()
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
    assert sorted(taken) == sorted(keys)
