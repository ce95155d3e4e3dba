"""Configs with many secrets are compiled one after the other, and hold up no other one."""

import asyncio

import pytest

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.delivery.fetching import Payload
from slipway.controller.work_budget import REQUEUE_SECONDS, BudgetExceeded, WorkBudget
from slipway.v1alpha1.bootstrap_service_pb2 import GetUserDataRequest, GetUserDataResponse
from tests.services.controller.scene import Scene


def test_the_sum_is_bounded() -> None:
    """What fits goes on beside the rest, and what is done makes room."""
    budget = WorkBudget(100)
    with budget.hold(60), budget.hold(40), pytest.raises(BudgetExceeded), budget.hold(1):
        pass
    with budget.hold(100):
        pass


def test_what_is_larger_than_the_limit_goes_alone() -> None:
    """It is not refused for ever, and nothing begins beside it."""
    budget = WorkBudget(100)
    with budget.hold(101), pytest.raises(BudgetExceeded), budget.hold(1):
        pass
    with budget.hold(1), pytest.raises(BudgetExceeded), budget.hold(101):
        pass


async def test_a_second_config_with_many_secrets_is_requeued(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no worker while the first is compiled, and one without secrets is not held up; then it gets its turn."""
    for index in range(4):
        scene.secret(f"s{index}", {"k": b"x" * 900_000})
    files = [
        {"path": f"/srv/{index}", "content": {"secretRef": {"name": f"s{index}", "key": "k"}}} for index in range(4)
    ]
    spec = {"provisioner": {"name": "cloud-init"}, "os": {"files": files}}
    scene.worker("first", spec=spec)
    scene.worker("second", spec=spec)
    scene.worker("small")
    monkeypatch.setattr(scene.reconciler.renderer.secrets, "_limit", 5_000_000)
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
