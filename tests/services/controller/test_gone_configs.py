"""A config that goes while it is looked at: what was known of it is forgotten before the look ends."""

import asyncio
from typing import Any

from slipway.controller.controller import Controller
from slipway.controller.facts import Facts
from slipway.controller.metrics import Metrics
from slipway.controller.reasons import Reason
from slipway.controller.reconciler import Next
from slipway.controller.watches import Watches
from tests.services.controller.scene import config_object
from tests.services.kubernetes_api.memory_api import MemoryApi


class Interrupted:
    """Finds that a config cannot go on, after it was deleted; notes of which uids nothing is known any more."""

    def __init__(self, watches: Watches) -> None:
        """Look at the configs of these watches."""
        self.metrics = Metrics()
        self.reporter = self
        self.watches = watches
        self.forgotten: list[str] = []
        self.looked = asyncio.Event()

    def forget(self, uid: str) -> None:
        """See Reporter."""
        self.forgotten.append(uid)

    async def reconcile(self, facts: Facts, *, waited: Any) -> Next:
        """See Reconciler."""
        waited(Reason.WAITING_FOR_OWNER)
        if facts.name == "gone":
            self.watches.configs._put((facts.namespace, facts.name), None)  # what a watch does
            assert self.forgotten
            self.forgotten.clear()
        self.looked.set()
        return Next(reason=Reason.WAITING_FOR_OWNER, after=0.0)


async def look(name: str) -> tuple[Watches, Controller, Interrupted]:
    """Look at one config once."""
    watches = Watches.of(MemoryApi())  # type: ignore[arg-type]
    reconciler = Interrupted(watches)
    controller = Controller(watches, reconciler, workers=1)  # type: ignore[arg-type]
    watches.configs._put(("default", name), config_object(name, uid=name, resourceVersion="1"))  # what a watch does
    workers = controller.start_workers()
    async with asyncio.timeout(30):
        await reconciler.looked.wait()
    await asyncio.sleep(0)
    for worker in workers:
        worker.cancel()
    await controller.finish()
    return watches, controller, reconciler


async def test_a_config_that_goes_meanwhile_is_forgotten() -> None:
    """It is neither halted for ever, which the metrics would show, nor looked at again."""
    watches, controller, reconciler = await look("gone")
    assert (watches.halted, controller._since, reconciler.forgotten) == ({}, {}, ["gone"])


async def test_a_config_that_stays_is_halted() -> None:
    """One that is still there cannot go on, and the metrics say why."""
    watches, controller, reconciler = await look("stays")
    assert watches.halted == {("default", "stays"): Reason.WAITING_FOR_OWNER}
    assert controller._since.keys() == {("default", "stays")}
    assert reconciler.forgotten == []
