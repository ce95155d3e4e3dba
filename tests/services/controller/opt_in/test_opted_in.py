"""One opted-in KubeadmConfig from its facts to its Secret: the writes, and what the kubeadm provider is left with."""

import pytest

from slipway.controller import ownership
from slipway.kubernetes_api.resources import Json
from tests.services.controller.opt_in.opted_in import OptedIn, kubeadm_config, paused_condition, ready
from tests.services.controller.scene import CLUSTER
from tests.services.kubernetes_api.memory_api import WRITES, Call


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


async def test_a_worker_costs_three_writes(scene: OptedIn) -> None:
    """Secret, status, and the end of the pause, in this order: core, which is woken by the end, finds all of it."""
    scene.config()
    await scene.reconcile()
    assert [(verb, kind) for verb, kind, _, _ in scene.api.writes] == [
        ("create", "Secret"),
        ("merge", "KubeadmConfig"),
        ("merge", "KubeadmConfig"),
    ]
    found = scene.found()
    assert ownership.PAUSED not in found["metadata"]["annotations"]
    assert found["status"]["dataSecretName"] == "w"
    assert found["status"]["initialization"] == {"dataSecretCreated": True}
    assert [verb for verb, *_ in scene.workload.writes] == ["create"]


async def test_the_status_is_as_the_kubeadm_provider_writes_it(scene: OptedIn) -> None:
    """Types and reasons are that provider's, and its own condition is left as it was."""
    scene.config()
    await scene.reconcile()
    conditions = {one["type"]: (one["status"], one["reason"]) for one in scene.status()["conditions"]}
    assert conditions == {
        "Ready": ("True", "Ready"),
        "DataSecretAvailable": ("True", "Available"),
        "CertificatesAvailable": ("True", "Available"),
        "Paused": ("True", "Paused"),
    }
    assert paused_condition() in scene.status()["conditions"]
    assert set(scene.status()) == {"conditions", "dataSecretName", "initialization", "observedGeneration"}


async def test_the_secret_belongs_to_the_config_as_the_kubeadm_provider_has_it(scene: OptedIn) -> None:
    """Exactly its reference, or that provider would want to repair it; and the join is of kubeadm's own layout."""
    config = scene.config()
    await scene.reconcile()
    secret = scene.api.find("Secret", "w") or {}
    assert secret["metadata"]["ownerReferences"] == [
        {
            "apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2",
            "kind": "KubeadmConfig",
            "name": "w",
            "uid": config["metadata"]["uid"],
            "controller": True,
        }
    ]
    assert scene.value(key="format") == b"cloud-config"
    assert b"kubeadm join --config" in scene.value()
    assert b"uninitialized" in scene.value()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("point", range(4))
async def test_killed_at_any_write_the_next_process_comes_to_the_same(scene: OptedIn, point: int, when: str) -> None:
    """Before and after each write of both clusters: one Secret with the same content, the status, no pause."""
    undisturbed = OptedIn()
    undisturbed.cluster()
    ready(undisturbed)
    for each in (undisturbed, scene):
        each.api.put(kubeadm_config("w", owner=each.machine(), uid="config"))
    await undisturbed.reconcile()
    count = 0

    def kill(call: Call) -> None:
        nonlocal count
        if call[0] in WRITES:
            count += 1
            if count == point + 1:
                raise Killed

    for api in (scene.api, scene.workload):
        setattr(api, when, kill)
    with pytest.raises(Killed):
        await scene.reconcile()
    for api in (scene.api, scene.workload):
        setattr(api, when, lambda _: None)
    scene.restart()
    await scene.reconcile()
    await scene.reconcile()
    assert scene.value() == undisturbed.value()
    assert len(scene.workload.all("Secret")) == 1
    assert ownership.PAUSED not in scene.found()["metadata"]["annotations"]
    assert scene.status()["dataSecretName"] == "w"


async def test_a_status_that_was_changed_meanwhile_is_read_again(scene: OptedIn) -> None:
    """The kubeadm provider writes its pause while we render: its condition stays, and ours stand beside it."""
    scene.config()
    facts = scene.facts()
    del facts.config["status"]
    await scene.reconciler.reconcile(facts, waited=lambda _: 0.0)
    scene.restart()
    stale = scene.facts("w")
    assert stale.reported

    other = OptedIn()
    other.cluster()
    ready(other)
    other.config()
    stale = other.facts()
    other.api.put({**other.found(), "status": {"conditions": [{**paused_condition(), "message": "newer"}]}})
    await other.reconciler.reconcile(stale, waited=lambda _: 0.0)
    messages = {one["type"]: one["message"] for one in other.status()["conditions"]}
    assert messages["Paused"] == "newer"
    assert other.status()["dataSecretName"] == "w"


@pytest.mark.parametrize("annotations", [{}, {ownership.PROVISIONER: "ignition"}], ids=["cloud-init", "ignition"])
async def test_the_first_machine_takes_the_lock_of_the_kubeadm_provider(annotations: Json) -> None:
    """The lock is the same ConfigMap, taken before the Secret; the machine begins the cluster with kubeadm init."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    scene.config("c", owner=scene.machine("c", control_plane=True), annotations=annotations)
    await scene.reconcile("c")
    assert ("create", "ConfigMap", "default", f"{CLUSTER}-lock") in scene.api.writes
    assert scene.value("c", "format") == (b"ignition" if annotations else b"cloud-config")
    assert not scene.facts("c").held


async def test_an_endpoint_of_kubeadm_s_own_counts_on_control_planes() -> None:
    """As it does with the kubeadm provider: clusterConfiguration.controlPlaneEndpoint wins over the Cluster's."""
    scene = OptedIn()
    scene.cluster(initialized=False)
    spec = {"clusterConfiguration": {"controlPlaneEndpoint": "own.example.com:7443"}}
    scene.config("c", owner=scene.machine("c", control_plane=True), spec=spec)
    await scene.reconcile("c")
    assert b"controlPlaneEndpoint: own.example.com:7443" in scene.value("c")
