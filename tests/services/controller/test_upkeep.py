"""What is done for a config after its first render: tokens, pools, and Secrets that others may have taken."""

import pytest

from slipway.kubernetes_api.failures import Unreachable
from slipway.kubernetes_api.resources import SECRETS
from tests.services.controller.scene import Scene
from tests.services.kubernetes_api.memory_api import Call


async def test_a_token_is_refreshed_until_the_machine_has_joined(scene: Scene) -> None:
    """It is made longer when a sixth of its time is over, made again when it was lost, and then left to expire."""
    scene.worker()
    await scene.reconcile()
    first = scene.workload.all("Secret")[0]["data"]["expiration"]
    scene.later(minutes=5)
    await scene.reconcile()
    second = scene.workload.all("Secret")[0]["data"]["expiration"]
    assert second != first
    await scene.workload.delete(SECRETS, "kube-system", scene.workload.all("Secret")[0]["metadata"]["name"])
    scene.restart()
    await scene.reconcile()
    assert len(scene.workload.all("Secret")) == 1
    machine = scene.api.find("Machine", "w") or {}
    scene.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    before = len(scene.workload.calls)
    scene.later(minutes=5)
    following = await scene.reconcile()
    assert len(scene.workload.calls) == before
    assert following.after is None


async def test_a_token_is_given_up_at_last(scene: Scene) -> None:
    """After a day the machine will not come any more: the condition says so, and the token expires."""
    scene.worker()
    await scene.reconcile()
    scene.later(hours=25)
    before = len(scene.workload.writes)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "TokenGivenUp")
    assert scene.condition(type_="DataSecretAvailable")[0] == "True"
    assert len(scene.workload.writes) == before


async def test_a_pool_is_rendered_again_for_a_new_generation(scene: Scene) -> None:
    """The name stays, the content is new, and the annotation tells which generation it is."""
    config = scene.pool()
    await scene.reconcile("p")
    first = scene.value("p")
    await scene.reconcile("p")
    assert scene.value("p") == first
    config = scene.api.find("SlipwayConfig", "p") or {}
    config["spec"]["os"] = {"timeZone": {"name": "Europe/Berlin"}}
    config["metadata"]["generation"] = 2
    scene.api.put(config)
    await scene.reconcile("p")
    assert scene.value("p") != first
    assert b"Europe/Berlin" in scene.value("p")
    assert (scene.api.find("Secret", "p") or {})["metadata"]["annotations"]["bootstrap.slipway.dev/generation"] == "2"


@pytest.mark.parametrize("recreated", [False, True])
async def test_a_pools_secret_is_not_replaced_blindly(scene: Scene, recreated: bool) -> None:
    """Somebody changed it, or made another of that name, since we looked: it stays, and we look again."""
    scene.pool()
    await scene.reconcile("p")
    config = scene.api.find("SlipwayConfig", "p") or {}
    config["spec"]["os"] = {"timeZone": {"name": "Europe/Berlin"}}
    config["metadata"]["generation"] = 2
    scene.api.put(config)
    facts = scene.facts("p")
    secret = scene.api.find("Secret", "p") or {}
    first = scene.value("p")
    if recreated:
        secret["metadata"]["uid"] = "another"
    scene.api.put(secret)
    following = await scene.reconciler.reconcile(facts, waited=lambda _: 1000.0)
    assert following.failed
    assert scene.value("p") == first
    await scene.reconcile("p")
    assert b"Europe/Berlin" in scene.value("p")


async def test_a_secret_is_not_adopted_blindly(scene: Scene) -> None:
    """A restored Secret that somebody else took since we looked stays theirs."""
    scene.worker()
    await scene.reconcile()
    machine = scene.api.find("Machine", "w") or {}
    machine["spec"]["bootstrap"]["dataSecretName"] = "w"
    scene.api.put(machine)
    secret = scene.api.find("Secret", "w") or {}
    scene.api.put({**secret, "metadata": {**secret["metadata"], "ownerReferences": []}})
    facts = scene.facts()
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x", "controller": True}
    scene.api.put({**secret, "metadata": {**secret["metadata"], "ownerReferences": [theirs]}})
    following = await scene.reconciler.reconcile(facts, waited=lambda _: 1000.0)
    assert following.failed
    assert (scene.api.find("Secret", "w") or {})["metadata"]["ownerReferences"] == [theirs]


async def test_a_pool_gets_a_new_token_for_machines_to_come(scene: Scene) -> None:
    """When all have joined and half of the token's time is over, token and user data are new."""
    scene.pool(joined=1)
    await scene.reconcile("p")
    first, name = scene.value("p"), scene.workload.all("Secret")[0]["metadata"]["name"]
    scene.later(minutes=5)
    following = await scene.reconcile("p")
    assert scene.value("p") == first
    assert following.after == pytest.approx(150)
    scene.later(minutes=3)
    await scene.reconcile("p")
    assert scene.value("p") != first
    assert {one["metadata"]["name"] for one in scene.workload.all("Secret")} > {name}
    annotations = (scene.api.find("Secret", "p") or {})["metadata"]["annotations"]
    assert annotations["bootstrap.slipway.dev/token-rotation"] == "1"


async def test_a_condition_does_not_flap_while_a_cluster_is_away(scene: Scene) -> None:
    """The token cannot be refreshed: told once, and not taken back at each look."""
    scene.worker()
    await scene.reconcile()

    def away(call: Call) -> None:
        raise Unreachable(call[0], call[1])

    scene.workload.before = away
    scene.later(minutes=5)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "WorkloadClusterUnreachable")
    assert scene.condition(type_="DataSecretAvailable")[0] == "True"
    assert scene.status()["dataSecretName"] == "w"
    before = len(scene.api.writes)
    for _ in range(3):
        scene.later(minutes=5)
        await scene.reconcile()
    assert len(scene.api.writes) == before
    scene.workload.before = lambda _: None
    scene.later(minutes=5)
    await scene.reconcile()
    assert scene.condition()[0] == "True"
