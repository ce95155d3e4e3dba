"""The secrets of a cluster: who makes them, and who waits."""

from services.controller.resources import SECRETS
from tests.services.controller.scene import CLUSTER, Scene


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
