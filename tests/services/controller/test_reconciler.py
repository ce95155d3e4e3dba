"""One config from its facts to its Secret: what is written, in which order, and what a kill in between leaves."""

import base64

import pytest

from tests.services.controller.scene import CLUSTER, Scene, config_object, machine_object
from tests.services.kubernetes_api.memory_api import Call


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


async def test_a_worker_costs_two_writes_and_one_in_its_cluster(scene: Scene) -> None:
    """Data Secret and status; the token goes first, so that no machine boots with one that nobody accepts."""
    scene.worker()
    following = await scene.reconcile()
    assert [(verb, kind) for verb, kind, _, _ in scene.api.writes] == [
        ("create", "Secret"),
        ("apply_status", "SlipwayConfig"),
    ]
    assert [verb for verb, *_ in scene.workload.writes] == ["create"]
    assert following.after == pytest.approx(300)
    assert scene.condition() == ("True", "Available", "")


async def test_the_secret_keeps_the_bootstrap_contract(scene: Scene) -> None:
    """Name, keys, type, label and controller are what Cluster API's contract asks for; the status names it."""
    config = scene.worker()
    await scene.reconcile()
    secret = scene.api.find("Secret", "w")
    assert secret is not None
    assert secret["type"] == "cluster.x-k8s.io/secret"
    assert secret["metadata"]["labels"] == {"cluster.x-k8s.io/cluster-name": CLUSTER}
    (reference,) = secret["metadata"]["ownerReferences"]
    assert reference["controller"] is True
    assert reference["uid"] == config["metadata"]["uid"]
    assert scene.value(key="format") == b"cloud-config"
    assert b"#cloud-config" in scene.value()
    status = scene.status()
    assert status["dataSecretName"] == "w"
    assert status["initialization"] == {"dataSecretCreated": True}
    assert status["ready"] is True
    assert status["userDataBytes"] == len(scene.value())
    assert status["provisioner"]["name"] == "cloud-init"


async def test_the_token_is_in_the_user_data_and_nowhere_else(scene: Scene) -> None:
    """The token of the workload cluster is the one that the machine has; neither status nor annotations hold it."""
    scene.worker()
    await scene.reconcile()
    (token,) = scene.workload.all("Secret")
    id_, secret = (base64.b64decode(token["data"][key]).decode() for key in ("token-id", "token-secret"))
    assert f"{id_}.{secret}".encode() in scene.value()
    found = scene.api.find("SlipwayConfig", "w")
    metadata = (scene.api.find("Secret", "w") or {})["metadata"]
    assert secret not in repr(found)
    assert secret not in repr(metadata)
    assert "uninitialized" in scene.value().decode()


@pytest.mark.parametrize("point", range(6))
@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_at_any_write_the_next_process_comes_to_the_same(scene: Scene, point: int, when: str) -> None:
    """Between any two writes: one Secret, the same content, the token accepted, the status right."""
    undisturbed = Scene()
    undisturbed.cluster()
    undisturbed.workload_ready()
    undisturbed.plane()
    undisturbed.secret(f"{CLUSTER}-slipway-token-seed", {"value": b"s" * 32})
    owner = machine_object("w")
    for each in (undisturbed, scene):
        made = each.api.put({**owner, "metadata": {**owner["metadata"], "uid": "machine"}})
        each.api.put(config_object("w", owner=made, uid="config"))
    await undisturbed.reconcile()

    writes = 0

    def kill(call: Call) -> None:
        nonlocal writes
        if call[0] in {"create", "apply_status", "merge", "replace", "delete"}:
            writes += 1
            if writes == point + 1:
                raise Killed

    for api in (scene.api, scene.workload):
        setattr(api, when, kill)
    try:
        await scene.reconcile()
    except Killed:
        pass
    else:
        assert point >= 3, "fewer writes than were thought of"
    for api in (scene.api, scene.workload):
        setattr(api, when, lambda _: None)
    scene.restart()
    await scene.reconcile()
    await scene.reconcile()
    assert [one["metadata"]["name"] for one in scene.api.all("Secret") if one["metadata"]["name"] == "w"] == ["w"]
    assert scene.value() == undisturbed.value()
    assert len(scene.workload.all("Secret")) == 1
    assert scene.condition() == ("True", "Available", "")
    assert scene.status() == undisturbed.status()


async def test_a_second_look_writes_nothing(scene: Scene) -> None:
    """Level-based: the same facts lead to no write, in the same process and in the next."""
    scene.worker()
    await scene.reconcile()
    before = len(scene.api.writes)
    await scene.reconcile()
    scene.restart()
    await scene.reconcile()
    assert len(scene.api.writes) == before


async def test_a_status_that_was_lost_comes_back_without_a_render(scene: Scene) -> None:
    """A move restores Secrets and not statuses: the status is made again from the Secret, whose content stays."""
    scene.worker()
    await scene.reconcile()
    secret, status = scene.api.find("Secret", "w"), scene.status()
    config = scene.api.find("SlipwayConfig", "w") or {}
    del config["status"]
    scene.api.put(config)
    scene.restart()
    scene.later(hours=1)
    await scene.reconcile()
    assert scene.api.find("Secret", "w") == secret
    for key in ("dataSecretName", "initialization", "provisioner", "userDataBytes", "bundleId", "ready"):
        assert scene.status()[key] == status[key]


async def test_pause_is_told_and_keeps_the_rest(scene: Scene) -> None:
    """A paused config gets the condition and nothing else; un-paused it goes on."""
    config = scene.worker()
    config["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    scene.api.put(config)
    await scene.reconcile()
    assert scene.condition(type_="Paused")[:2] == ("True", "Paused")
    assert scene.api.find("Secret", "w") is None
    config = scene.api.find("SlipwayConfig", "w") or {}
    config["metadata"]["annotations"] = {}
    scene.api.put(config)
    await scene.reconcile()
    assert scene.condition(type_="Paused")[:2] == ("False", "NotPaused")
    assert scene.condition()[0] == "True"
