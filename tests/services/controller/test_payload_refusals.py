"""User data that machines must not fetch: each refusal names the field, before anything is stored."""

from typing import Any

import pytest

from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.controller.payloads import Payloads
from slipway.reports.objects import Objects
from tests.services.controller.payload_scene import BASE, SPEC, stored
from tests.services.controller.scene import Scene

REFUSED = [
    ({"target": {**SPEC["target"], "infrastructure": "aws"}}, "FeatureDenied", "an infrastructure that is not allowed"),
    ({"target": {**SPEC["target"], "infrastructure": ""}}, "FeatureDenied", "an infrastructure that is not known"),
    ({"provisioner": {"name": "ignition", "format": "ignition/2.3.0"}}, "UnsupportedTarget", "no header in spec 2"),
]


@pytest.mark.parametrize(("change", "reason", "why"), REFUSED, ids=[row[2] for row in REFUSED])
async def test_what_cannot_be_fetched_is_refused(
    fetching: Scene, store: Objects, change: dict[str, Any], reason: str, why: str
) -> None:
    """It is refused with the field, before anything is stored."""
    fetching.worker(spec={**SPEC, **change})
    await fetching.reconcile()
    status, actual, message = fetching.condition()
    assert (status, actual) == ("False", reason), why
    assert "delivery" in message
    assert stored(store) == {}
    assert fetching.api.find("Secret", "w") is None


async def test_a_pool_is_refused(fetching: Scene, store: Objects) -> None:
    """One Secret serves all machines of a pool, so each of them could fetch the payload of the others."""
    fetching.pool(spec=SPEC)
    await fetching.reconcile("p")
    assert fetching.condition("p")[:2] == ("False", "DeliveryRefused")
    assert stored(store) == {}


async def test_a_provider_that_wraps_user_data_is_refused(fetching: Scene, store: Objects) -> None:
    """The machine would get something else than the stub."""
    fetching.payloads = Payloads(store, Fetching(frozenset({"aws"}), BASE))
    fetching.restart()
    target = {key: value for key, value in SPEC["target"].items() if key != "infrastructure"}
    fetching.worker(spec={**SPEC, "target": target}, infrastructureRef={"kind": "AWSMachine", "name": "w"})
    await fetching.reconcile()
    assert fetching.condition()[:2] == ("False", "DeliveryRefused")
    assert stored(store) == {}


async def test_without_a_store_nothing_is_fetched(scene: Scene) -> None:
    """The operator has not allowed it."""
    scene.worker(spec=SPEC)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "FeatureDenied")
