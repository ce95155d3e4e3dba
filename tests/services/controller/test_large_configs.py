"""Large configs are worked on one at a time: each takes a hundred megabytes, and a tenant may make many."""

import asyncio
from typing import Any

from slipway.controller.controller import Controller
from slipway.controller.facts import Facts
from slipway.controller.metrics import Metrics
from slipway.controller.reconciler import Next
from slipway.controller.watches import Watches
from tests.services.controller.scene import config_object
from tests.services.kubernetes_api.memory_api import MemoryApi

NAMES = 11
COUNTLESS = {"os": {"files": [{"path": "/a", "content": {"segments": [{"text": "a"}] * 4_000}}]}}


class Slow:
    """Works on a config for a moment, and notes how many large ones there were at a time."""

    def __init__(self) -> None:
        """Begin with none."""
        self.metrics = Metrics()
        self.at_work: set[str] = set()
        self.seen: list[set[str]] = []
        self.done: list[str] = []
        self.all_done = asyncio.Event()

    async def reconcile(self, facts: Facts, **_: Any) -> Next:
        """See Reconciler."""
        self.at_work.add(facts.name)
        self.seen.append({name for name in self.at_work if name.startswith("large")})
        await asyncio.sleep(0.05)
        self.at_work.remove(facts.name)
        self.done.append(facts.name)
        if len(set(self.done)) == NAMES:
            self.all_done.set()
        if facts.name == "large-1":
            raise ValueError("a defect")
        return Next()


async def test_one_large_config_at_a_time_and_the_others_go_on() -> None:
    """None is lost, none waits in the place of a small one, and a failure of one does not keep the next away."""
    watches = Watches.of(MemoryApi())  # type: ignore[arg-type]
    reconciler = Slow()
    controller = Controller(watches, reconciler, workers=4)  # type: ignore[arg-type]
    names = [f"large-{number}" for number in range(1, 4)] + [f"small-{number}" for number in range(8)]
    for name in names:
        spec = COUNTLESS if name.startswith("large") else {}
        item = config_object(name, spec=spec, uid=name, resourceVersion="1")
        watches.configs._put(("default", name), item)  # what a watch does
    workers = controller.start_workers()
    async with asyncio.timeout(30):
        await reconciler.all_done.wait()
    for worker in workers:
        worker.cancel()
    await controller.finish()
    assert max(map(len, reconciler.seen)) == 1
    small = [name for name in reconciler.done if name.startswith("small")]
    assert reconciler.done.index(small[-1]) < reconciler.done.index("large-3")
