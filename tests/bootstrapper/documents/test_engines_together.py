"""Machines of one cluster have the bootstrap engine of its control plane."""

import pytest
import yaml

from slipway.bootstrapper.documents.consistency import inconsistencies
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion

FIELD = "spec.kubernetes.engine"


def questions(plane: dict[str, object], worker: dict[str, object], **cluster: str) -> list[MachineQuestion]:
    """Give the two machines of a cluster."""
    entries = [{"name": name, "role": role, "config": name} for name, role in (("cp", "Init"), ("w", "Worker"))]
    facts = {"kubernetesVersion": "v1.34.2", "endpoint": {"host": "a.example.com"}, **cluster}
    documents = [
        {"kind": "SlipwayCluster", "metadata": {"name": "c"}, "spec": {"cluster": facts, "machines": entries}},
        {"kind": "SlipwayConfig", "metadata": {"name": "cp"}, "spec": plane},
        {"kind": "SlipwayConfig", "metadata": {"name": "w"}, "spec": worker},
    ]
    text = yaml.safe_dump_all([{"apiVersion": "bootstrap.slipway.dev/v1alpha1", **entry} for entry in documents])
    return read_document_set({"c.yaml": text}, variables={}, substitute=False).questions


def results(plane: dict[str, object], worker: dict[str, object], **cluster: str) -> list[tuple[str, str]]:
    """Give machine and field of everything that does not go together in a cluster of two machines."""
    return [(entry.machine.name, entry.field) for entry in inconsistencies(questions(plane, worker, **cluster))]


def engine(name: str) -> dict[str, object]:
    """Give a spec that names its engine."""
    return {"kubernetes": {"engine": name}}


@pytest.mark.parametrize(
    ("plane", "worker", "cluster", "wanted", "reason"),
    [
        ({}, {}, "", [], "nobody says anything"),
        ({}, {}, "k0s", [], "both have that of the cluster"),
        (engine("k0s"), engine("k0s"), "", [], "both say the same"),
        (engine("k0s"), {}, "k0s", [], "the worker has that of the cluster"),
        ({"init": engine("k0s")}, engine("k0s"), "", [], "an override counts"),
        (engine("k0s"), engine("kubeadm"), "", [("w", "spec.kubernetes.engine")], "two engines"),
        (engine("kubeadm"), {}, "", [], "one says what the other has anyway"),
        (engine("k0s"), {}, "", [], "the worker has that of the control plane"),
        ({}, engine("k0s"), "", [("w", "spec.kubernetes.engine")], "the control plane has kubeadm"),
        ({}, engine("kubeadm"), "k0s", [("w", "spec.kubernetes.engine")], "the facts name another engine"),
        (engine("k0s"), engine("k0s"), "kubeadm", [("cp", FIELD), ("w", FIELD)], "render refuses both"),
    ],
)
def test_a_worker_has_the_engine_of_its_control_plane(
    plane: dict[str, object], worker: dict[str, object], cluster: str, wanted: list[tuple[str, str]], reason: str
) -> None:
    """Else it could not join; the field is that of the worker, where it has one."""
    facts = {"controlPlane": cluster} if cluster else {}
    assert results(plane, worker, **facts) == wanted, reason


@pytest.mark.parametrize(
    ("plane", "cluster", "wanted", "reason"),
    [
        (engine("k0s"), "", "k0s", "what the first machine names"),
        ({"init": engine("k0s")}, "", "k0s", "for its role"),
        ({"join": engine("k0s")}, "", "", "for another role"),
        (engine("k0s"), "kubeadm", "kubeadm", "the cluster's facts are not touched"),
        ({}, "", "", "nobody says anything"),
    ],
)
def test_the_first_machine_says_what_the_control_plane_is(
    plane: dict[str, object], cluster: str, wanted: str, reason: str
) -> None:
    """All machines of the cluster have it as a fact, so that the engine of each is known."""
    facts = {"controlPlane": cluster} if cluster else {}
    assert {entry.subject.cluster.control_plane for entry in questions(plane, {}, **facts)} == {wanted}, reason
