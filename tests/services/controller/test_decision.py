"""What is to be done, from facts alone."""

import pytest

from slipway.controller.cluster_object import ClusterObject
from slipway.controller.decision import Idle, Paused, Refresh, Render, decide
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.owner import Owner
from slipway.controller.reason_meanings import MEANINGS
from slipway.controller.reasons import Reason
from slipway.kubernetes_api.resources import Json
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.services.controller.scene import cluster_object, config_object, machine_object, pool_object
from tests.services.kubernetes_api.memory_api import MemoryApi

ANNOTATIONS = {
    "bootstrap.slipway.dev/generation": "1",
    "bootstrap.slipway.dev/token-rotation": "3",
    "bootstrap.slipway.dev/role": "WORKER",
    "bootstrap.slipway.dev/provisioner": "cloud-init",
    "bootstrap.slipway.dev/provisioner-version": "1.0.0",
    "bootstrap.slipway.dev/format": "cloud-config",
    "bootstrap.slipway.dev/bundle-id": "b",
    "bootstrap.slipway.dev/user-data-bytes": "10",
    "bootstrap.slipway.dev/token": "true",
}


def _facts(
    *,
    owner: Json | None = None,
    cluster: Json | None = None,
    secret: Json | None = None,
    generation: int = 1,
    **metadata: object,
) -> Facts:
    api = MemoryApi()
    made = api.put(owner or machine_object("w"))
    config = api.put(config_object("w", owner=made, generation=generation, **metadata))
    found = api.put(cluster or cluster_object())
    if secret is not None:
        secret = {"metadata": {"name": "w", **secret}}
        for reference in secret["metadata"].get("ownerReferences", ()):
            reference.setdefault("uid", config["metadata"]["uid"])
    return Facts(config=config, owner=Owner(made), cluster=ClusterObject(found), secret=secret)


def _of_another_uid() -> Facts:
    found = _facts()
    (reference,) = found.config["metadata"]["ownerReferences"]
    reference["uid"] = "before"
    return found


def _ours(**more: str) -> Json:
    return {"annotations": ANNOTATIONS, "ownerReferences": [{"kind": "SlipwayConfig", "controller": True, **more}]}


@pytest.mark.parametrize(
    ("facts", "reason", "why"),
    [
        (Facts(config=config_object("w")), Reason.WAITING_FOR_OWNER, "core has not set the owner"),
        (
            Facts(config=config_object("w"), owner=Owner(machine_object("w"))),
            Reason.WAITING_FOR_CLUSTER,
            "the Cluster is not there",
        ),
        (
            _facts(owner={**machine_object("other"), "metadata": machine_object("w")["metadata"]}),
            Reason.WAITING_FOR_OWNER,
            "a Machine that refers to another config: the owner reference is forged",
        ),
        (_of_another_uid(), Reason.WAITING_FOR_OWNER, "a Machine of the same name that was made anew"),
        (
            _facts(cluster={**cluster_object(), "status": {}}),
            Reason.WAITING_FOR_CLUSTER_INFRASTRUCTURE,
            "the infrastructure is not provisioned",
        ),
        (_facts(cluster=cluster_object(controlPlaneEndpoint={})), Reason.WAITING_FOR_ENDPOINT, "no endpoint"),
        (
            _facts(cluster=cluster_object(controlPlaneEndpoint={"host": "h", "port": 0})),
            Reason.WAITING_FOR_ENDPOINT,
            "a port of zero is none",
        ),
        (
            _facts(owner=machine_object("w", control_plane=True), cluster=cluster_object(controlPlaneEndpoint={})),
            Reason.WAITING_FOR_ENDPOINT,
            "before init, too",
        ),
        (_facts(owner=machine_object("w", version="")), Reason.VERSION_MISSING, "the Machine has no version"),
        (
            _facts(cluster=cluster_object(initialized=False)),
            Reason.WAITING_FOR_CONTROL_PLANE,
            "a worker has nothing to join",
        ),
        (_facts(secret={}), Reason.DATA_SECRET_TAKEN, "a Secret that nobody controls and that is not ours"),
        (
            _facts(secret={"ownerReferences": [{"kind": "KubeadmConfig", "uid": "x", "controller": True}]}),
            Reason.DATA_SECRET_TAKEN,
            "another controller's Secret",
        ),
        (_facts(secret=_ours(uid="before")), Reason.WAITING_FOR_PREDECESSOR, "the garbage collector is not done"),
        (
            _facts(secret={"ownerReferences": [{"kind": "SlipwayConfig", "controller": True}]}),
            Reason.DATA_SECRET_TAKEN,
            "ours, but somebody has removed what it says",
        ),
    ],
)
def test_what_has_to_come_first(facts: Facts, reason: Reason, why: str) -> None:
    """Each missing fact has a reason of its own."""
    with pytest.raises(Halt) as halt:
        decide(facts)
    assert halt.value.reason == reason.value, why


@pytest.mark.parametrize(
    ("facts", "role", "needs_lock"),
    [
        (_facts(), clusterpb.ROLE_WORKER, False),
        (_facts(owner=machine_object("w", control_plane=True)), clusterpb.ROLE_CONTROL_PLANE, False),
        (
            _facts(owner=machine_object("w", control_plane=True), cluster=cluster_object(initialized=False)),
            clusterpb.ROLE_INIT,
            True,
        ),
    ],
)
def test_the_role_is_a_fact_of_machine_and_cluster(
    facts: Facts, role: clusterpb.Role.ValueType, needs_lock: bool
) -> None:
    """The first control-plane machine begins the cluster, under the lock; others join."""
    decision = decide(facts)
    assert isinstance(decision, Render)
    assert decision.role == role
    assert decision.needs_lock is needs_lock


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (_facts(deletionTimestamp="2026-11-01T00:00:00Z"), "the config goes"),
        (
            _facts(
                owner={**machine_object("w"), "metadata": {"name": "w", "deletionTimestamp": "2026-11-01T00:00:00Z"}}
            ),
            "its Machine goes",
        ),
        (
            _facts(owner=machine_object("w", bootstrap={"dataSecretName": "mine"})),
            "the Machine uses a Secret that a person made",
        ),
        (
            _facts(
                owner={
                    **machine_object("w", bootstrap={"dataSecretName": "w"}),
                    "status": {"nodeRef": {"name": "w"}},
                }
            ),
            "the Machine has joined, and somebody has removed the Secret that it does not need any more",
        ),
    ],
)
def test_nothing_is_done_any_more(facts: Facts, why: str) -> None:
    """What goes is left alone, so that nothing stands in the way of a deletion."""
    assert isinstance(decide(facts), Idle), why


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        (_facts(cluster=cluster_object(paused=True)), "the Cluster"),
        (_facts(annotations={"cluster.x-k8s.io/paused": ""}), "cluster.x-k8s.io/paused"),
        (_facts(annotations={"bootstrap.slipway.dev/paused": ""}), "bootstrap.slipway.dev/paused"),
    ],
)
def test_pause_has_three_ways(facts: Facts, why: str) -> None:
    """The sentence names the one that it is."""
    decision = decide(facts)
    assert isinstance(decision, Paused)
    assert why in decision.why


def test_what_is_there_is_kept() -> None:
    """A Machine's user data are made once, whatever becomes of the spec; the Secret says what it holds."""
    decision = decide(_facts(secret=_ours(), generation=7))
    assert isinstance(decision, Refresh)
    assert decision.record.rotation == 3
    assert not decision.adopt


def test_a_restored_secret_is_adopted_when_its_machine_uses_it() -> None:
    """After a restore uids are new: the Machine's own reference tells that the Secret is the right one."""
    owner = machine_object("w", bootstrap={"dataSecretName": "w"})
    decision = decide(_facts(owner=owner, secret=_ours(uid="before")))
    assert isinstance(decision, Refresh)
    assert decision.adopt


@pytest.mark.parametrize(("generation", "again"), [(1, False), (2, True)])
def test_a_pool_follows_its_config(generation: int, again: bool) -> None:
    """A new generation is rendered, with the rotation of before."""
    decision = decide(_facts(owner=pool_object("w"), secret=_ours(), generation=generation))
    assert isinstance(decision, Render) is again
    if isinstance(decision, Render):
        assert decision.rotation == 3
        assert decision.replaces is not None


def test_every_reason_is_explained() -> None:
    """No condition says a word that the reference page does not know."""
    assert set(MEANINGS) == set(Reason)
