"""Visits to clusters: one at a time of each, and none that ends another."""

import asyncio
from typing import cast

import pytest
from structlog.testing import capture_logs

from slipway.controller.cluster_visits import ClusterVisits, Place
from slipway.controller.workload import Connected, Workloads

A, B = ("n", "a"), ("n", "b")


class Lines:
    """Workload clusters that can all be reached."""

    async def connected(self, *place: str) -> Place:
        return place[0], place[1]


@pytest.fixture
def visits() -> ClusterVisits[list[str]]:
    """Give visits that remember what happened."""
    return ClusterVisits(cast(Workloads, Lines()), list, work="tests")


async def note(connected: Connected, state: list[str]) -> None:
    """Visit a cluster."""
    del connected
    state.append("visited")


async def fail(connected: Connected, state: list[str]) -> None:
    """Visit a cluster with a defect."""
    raise RuntimeError


async def hang(connected: Connected, state: list[str]) -> None:
    """Visit a cluster that never answers."""
    state.append("begun")
    await asyncio.Event().wait()


async def test_a_defect_in_one_visit_is_logged_and_ends_no_other(visits: ClusterVisits[list[str]]) -> None:
    """The cluster is visited again, and the repeated failure is logged as out of reach once."""
    with capture_logs() as logs:
        for _ in range(2):
            visits.start(A, fail)
            visits.start(B, note)
            await visits.wait(seconds=10)
    assert visits.state(B) == ["visited"] * 2
    assert [entry["work"] for entry in logs] == ["tests"] * 3
    assert [entry.get("failure") for entry in logs].count("RuntimeError") == 1


async def test_a_cluster_has_one_visit_at_a_time(visits: ClusterVisits[list[str]]) -> None:
    """The next starts when the last has ended, and a wait ends after the seconds that it was given."""
    assert visits.start(A, hang)
    await visits.wait(seconds=0.01)
    assert visits.is_visited(A)
    assert not visits.start(A, note)
    visits.forget(A)
    assert visits.state(A) is None
    assert visits.start(A, note)


async def test_the_end_of_the_repetition_ends_the_visits(visits: ClusterVisits[list[str]]) -> None:
    """A look that fails is repeated; with the cancelled task no visit goes on."""
    looks: list[str] = []
    ended: list[str] = []

    async def look() -> None:
        looks.append("look")
        if len(looks) == 1:
            raise RuntimeError
        visits.start(A, hang, ended=lambda: ended.append("ended"))

    task = asyncio.create_task(visits.repeat(look, seconds=0.0))
    async with asyncio.timeout(30):
        while not visits.state(A):  # noqa: ASYNC110  # what is waited for happens in a task
            await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    for _ in range(50):
        await asyncio.sleep(0)
    assert ended == ["ended"]
    assert visits.places() == set()
