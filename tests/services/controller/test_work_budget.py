"""Large configs are worked on one after the other, and hold up no other one: what does not fit is requeued."""

import asyncio
import threading

import pytest

from slipway.controller import question
from slipway.controller.work_budget import REQUEUE_SECONDS, SPEC_BYTES, BudgetExceeded, WorkBudget
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


async def test_a_second_large_config_is_requeued(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes no worker while the first is read, and a small one is not held up; afterwards it gets its turn."""
    large = {"os": {"files": [{"path": "/srv/a", "content": {"text": "x" * (SPEC_BYTES * 2 // 3)}}]}}
    scene.worker("first", spec=large)
    scene.worker("second", spec=large)
    scene.worker("small")
    reads, goes_on = threading.Event(), threading.Event()
    read_spec = question.read_spec

    def slow(config: object) -> object:
        if "first" in str(config)[:2000]:
            reads.set()
            assert goes_on.wait(20)
        return read_spec(config)  # type: ignore[arg-type]

    monkeypatch.setattr(question, "read_spec", slow)
    first = asyncio.create_task(scene.reconcile("first"))
    await asyncio.to_thread(reads.wait, 20)
    postponed = await scene.reconcile("second")
    assert postponed.after == REQUEUE_SECONDS
    await scene.reconcile("small")
    assert not first.done()
    goes_on.set()
    await first
    assert (await scene.reconcile("second")).after != REQUEUE_SECONDS
