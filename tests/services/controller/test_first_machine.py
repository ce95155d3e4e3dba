"""The secrets of a cluster: who makes them, and who waits."""

import base64
import json

import pytest

from slipway.kubernetes_api.resources import SECRETS
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.kubernetes_api.memory_api import WRITES, Call

BEGINNING = ("lock", "slipway-token-seed", "ca", "etcd", "proxy", "sa")


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


async def test_the_first_machine_makes_the_secrets_of_its_cluster(scene: Scene) -> None:
    """Without a control-plane provider: lock, CAs and key, all owned by the Cluster and controlled by nobody."""
    scene.api.put(
        {
            **(scene.api.find("Cluster", CLUSTER) or {}),
            "status": {"initialization": {"infrastructureProvisioned": True}},
        }
    )
    await scene.api.delete(SECRETS, "default", f"{CLUSTER}-ca")
    scene.worker("cp", control_plane=True)
    await scene.reconcile("cp")
    assert scene.condition("cp")[0] == "True"
    for suffix in ("ca", "etcd", "proxy", "sa"):
        secret = scene.api.find("Secret", f"{CLUSTER}-{suffix}")
        assert secret is not None, suffix
        (owner,) = secret["metadata"]["ownerReferences"]
        assert owner["kind"] == "Cluster"
        assert not owner.get("controller")
    assert scene.api.find("ConfigMap", f"{CLUSTER}-lock") is not None
    assert scene.workload.writes == []
    # The second one waits for the first, and joins when the lock's cluster is there.
    scene.worker("cp2", control_plane=True)
    await scene.reconcile("cp2")
    assert scene.condition("cp2")[1] == "WaitingForInitLock"
    assert "Machine cp " in scene.condition("cp2")[2]
    scene.cluster()
    await scene.reconcile("cp")
    assert scene.api.find("ConfigMap", f"{CLUSTER}-lock") is None
    await scene.reconcile("cp2")
    assert scene.condition("cp2")[0] == "True"


async def test_a_cluster_of_another_provider_gets_no_secrets_from_us(scene: Scene) -> None:
    """Where a control-plane provider is to make them, they are waited for."""
    scene.api.discovery = {}
    cluster = scene.cluster(
        initialized=False, controlPlaneRef={"apiGroup": "x.example.com", "kind": "XControlPlane", "name": "x"}
    )
    await scene.api.delete(SECRETS, "default", f"{CLUSTER}-ca")
    scene.worker("cp", control_plane=True)
    await scene.reconcile("cp")
    assert cluster
    assert scene.condition("cp")[:2] == ("False", "WaitingForCertificates")
    assert scene.condition("cp", "CertificatesAvailable")[0] == "False"
    assert scene.api.find("Secret", f"{CLUSTER}-ca") is None


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", range(1, len(BEGINNING) + 3))
async def test_killed_while_it_begins_a_cluster(point: int, when: str) -> None:
    """At any write: the next process makes what is missing, and nothing anew; the machine gets what is there."""
    scene = Scene()
    scene.cluster(initialized=False)
    scene.worker("cp", control_plane=True)
    writes = 0

    def kill(call: Call) -> None:
        nonlocal writes
        writes += call[0] in WRITES
        if call[0] in WRITES and writes == point:
            raise Killed

    setattr(scene.api, when, kill)
    with pytest.raises(Killed):
        await scene.reconcile("cp")
    setattr(scene.api, when, lambda _: None)
    before = scene.api.all("Secret")
    scene.restart()
    await scene.reconcile("cp")
    assert scene.condition("cp")[0] == "True"
    after = scene.api.all("Secret")
    assert [one for one in before if one not in after] == [], "what was there is as it was"
    assert [one["metadata"]["name"] for one in after if one["metadata"]["name"] != "cp"] == [
        f"{CLUSTER}-{suffix}" for suffix in BEGINNING[1:]
    ]
    authority = scene.api.find("Secret", f"{CLUSTER}-ca") or {}
    assert json.dumps(base64.b64decode(authority["data"]["tls.crt"]).decode())[1:-1] in scene.value("cp").decode()
    lock = scene.api.find("ConfigMap", f"{CLUSTER}-lock") or {}
    assert json.loads(lock["data"]["lock-information"]) == {"machineName": "cp"}
