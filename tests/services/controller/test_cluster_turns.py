"""Turns of clusters: who is slow waits behind who is quick, and many clusters of a tenant behind one of another."""

import asyncio

import pytest

from slipway.controller import cluster_turns
from slipway.controller.cluster_turns import ClusterTurns, Responsiveness
from slipway.kubernetes_api.failures import Unreachable


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_turns, "_QUICK_SECONDS", 0.02)


async def _settle() -> None:
    """Let every task go on until it waits for another: none of them needs so many turns of the loop."""
    for _ in range(50):
        await asyncio.sleep(0)


async def test_a_quick_cluster_that_becomes_slow_loses_its_place() -> None:
    """It gets longer turns among the slow ones then, and stays there for as long as it needs them."""
    turns, responsiveness = ClusterTurns(), Responsiveness()
    async with turns.turn("a", responsiveness):
        pass
    assert responsiveness.owed == 0
    with pytest.raises(TimeoutError):
        async with turns.turn("a", responsiveness):
            await asyncio.sleep(1)
    assert turns.rests(responsiveness)
    for _ in range(2):
        async with turns.turn("a", responsiveness):
            await asyncio.sleep(0.05)
    assert responsiveness.owed == 2
    for _ in range(2):
        async with turns.turn("a", responsiveness):
            pass
    assert responsiveness.owed == 0


async def test_slow_clusters_take_no_place_of_a_quick_one() -> None:
    """However many there are: they wait for each other."""
    turns, end = ClusterTurns(), asyncio.Event()

    async def slow() -> None:
        async with turns.turn("a", Responsiveness()):
            await end.wait()

    tasks = [asyncio.create_task(slow()) for _ in range(20)]
    await asyncio.sleep(0)
    async with asyncio.timeout(30), turns.turn("a", Responsiveness(owed=0)):
        pass
    end.set()
    await asyncio.gather(*tasks)


async def test_the_next_is_of_the_namespace_that_holds_the_fewest() -> None:
    """Twenty clusters of a tenant that came first leave a place to another, and then the next one that is free."""
    turns, order = ClusterTurns(), list[str]()
    ends = [asyncio.Event() for _ in range(20)]

    async def turn(namespace: str, end: asyncio.Event) -> None:
        async with turns.turn(namespace, Responsiveness()):
            order.append(namespace)
            await end.wait()

    tasks = [asyncio.create_task(turn("many", end)) for end in ends]
    await asyncio.sleep(0)
    tasks += [asyncio.create_task(turn("few", asyncio.Event())) for _ in range(2)]
    await _settle()
    assert order == ["many"] * 3 + ["few"]
    ends[0].set()
    await _settle()
    assert order == ["many"] * 3 + ["few"] * 2
    for end in ends:
        end.set()
    await asyncio.gather(*tasks[:-2])
    for task in tasks[-2:]:
        task.cancel()


async def test_who_is_cancelled_keeps_no_place() -> None:
    """Neither one that waits, nor one that holds a place, nor one that was given it a moment ago."""
    turns = ClusterTurns()

    async def turn() -> None:
        async with turns.turn("a", Responsiveness()):
            await asyncio.Event().wait()

    tasks = [asyncio.create_task(turn()) for _ in range(10)]
    await _settle()
    tasks[9].cancel()
    tasks[0].cancel()
    await asyncio.wait([tasks[0]])
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    for _ in range(5):
        async with asyncio.timeout(30), turns.turn("b", Responsiveness()):
            pass


async def test_a_failure_costs_two_quick_turns() -> None:
    """And a while that grows, in which the cluster is left alone."""
    seconds = 0.0
    turns, responsiveness = ClusterTurns(monotonic=lambda: seconds), Responsiveness()
    rests = []
    for _ in range(6):
        with pytest.raises(Unreachable):
            async with turns.turn("a", responsiveness):
                raise Unreachable("GET", "ConfigMap")
        rests.append(responsiveness.rest_until - seconds)
        seconds = responsiveness.rest_until
    assert rests == [5, 10, 20, 40, 60, 60]
    assert responsiveness.owed == 9
