"""Configs that refer to much are compiled one after the other, and hold up no other one."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.delivery.fetching import Payload
from slipway.controller.work_budget import OBJECT_BYTES, REQUEUE_SECONDS, BudgetExceeded, WorkBudget
from slipway.v1alpha1.bootstrap_service_pb2 import GetUserDataRequest, GetUserDataResponse
from tests.services.controller.scene import Scene


def test_the_sum_is_bounded() -> None:
    """What fits goes on beside the rest, and what is done makes room."""
    budget = WorkBudget(100)
    with budget.share() as first, budget.share() as second:
        first.take(60)
        second.take(40)
        for share in (first, second):
            with pytest.raises(BudgetExceeded):
                share.take(1)
    with budget.share() as share:
        share.take(100)


def test_what_is_larger_than_the_limit_goes_alone() -> None:
    """It is not refused for ever, and nothing begins beside it; nor does it begin beside something."""
    budget = WorkBudget(100)
    with budget.share() as large, budget.share() as small:
        large.take(60)
        large.take(60)
        with pytest.raises(BudgetExceeded):
            small.take(1)
    with budget.share() as small, budget.share() as large:
        small.take(1)
        with pytest.raises(BudgetExceeded):
            large.take(101)


async def test_nothing_is_read_that_may_not_fit() -> None:
    """The largest object has to fit beside what others hold, and no more than four are read at a time."""
    budget = WorkBudget(OBJECT_BYTES + 10)
    reads, goes_on, begun = 0, asyncio.Event(), asyncio.Event()

    async def read() -> None:
        nonlocal reads
        with budget.share() as share:
            async with share.reading():
                reads += 1
                if reads == 4:
                    begun.set()
                await goes_on.wait()

    tasks = [asyncio.create_task(read()) for _ in range(10)]
    await asyncio.wait_for(begun.wait(), 20)
    await asyncio.sleep(0)
    assert reads == 4
    goes_on.set()
    await asyncio.gather(*tasks)
    with budget.share() as other, budget.share() as share:
        other.take(11)
        with pytest.raises(BudgetExceeded):
            async with share.reading():
                pass
        async with other.reading():
            pass


SECRET = {"secretRef": {"name": "{}", "key": "k"}}
CONFIG_MAP = {"configMapRef": {"name": "{}", "key": "k"}}


def large(scene: Scene, reference: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Put in four large objects, and return files that refer to them."""
    (kind,) = reference
    for index in range(4):
        if kind == "secretRef":
            scene.secret(f"s{index}", {"k": b"x" * 400_000})
        else:
            scene.api.put({"kind": "ConfigMap", "metadata": {"name": f"s{index}"}, "data": {"k": "x" * 400_000}})
    return [
        {"path": f"/srv/{index}", "content": {kind: {**reference[kind], "name": f"s{index}"}}} for index in range(4)
    ]


@pytest.mark.parametrize("reference", [SECRET, CONFIG_MAP], ids=["Secrets", "ConfigMaps"])
async def test_a_second_config_that_refers_to_much_is_requeued(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, reference: Mapping[str, Any]
) -> None:
    """It takes no worker while the first is compiled, and one that refers to nothing is not held up."""
    spec = {"provisioner": {"name": "cloud-init"}, "os": {"files": large(scene, reference)}}
    scene.worker("first", spec=spec)
    scene.worker("second", spec=spec)
    scene.worker("small")
    monkeypatch.setattr(scene.reconciler.renderer.referenced, "_limit", 2_500_000)
    compiles, goes_on = asyncio.Event(), asyncio.Event()
    delivered = Bootstrapper.delivered

    async def slow(self: Bootstrapper, request: GetUserDataRequest) -> tuple[GetUserDataResponse, Payload | None]:
        if request.subject.machine.name == "first":
            compiles.set()
            await goes_on.wait()
        return await delivered(self, request)

    monkeypatch.setattr(Bootstrapper, "delivered", slow)
    first = asyncio.create_task(scene.reconcile("first"))
    await asyncio.wait_for(compiles.wait(), 20)
    assert (await scene.reconcile("second")).after == REQUEUE_SECONDS
    await scene.reconcile("small")
    assert not first.done()
    goes_on.set()
    await first
    assert (await scene.reconcile("second")).after != REQUEUE_SECONDS
