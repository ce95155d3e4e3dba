"""A cluster with a topology has the machines that its class describes."""

import pytest

from services.contract.source_position import Position, SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.manifest_texts import CLASS, INIT, JOIN, TOPOLOGY, WORKER, by_name, manifests


def test_a_topology_is_what_its_class_says() -> None:
    """The templates of the class are taken without its patches, which a note says."""
    found = manifests(TOPOLOGY + CLASS)
    machines = by_name(found)
    assert {name: (each.machine.role, each.machine.kubernetes_version) for name, each in machines.items()} == {
        "c-init": (INIT, "v1.33.0"),
        "c-join": (JOIN, "v1.33.0"),
        "c-md-0": (WORKER, "v1.33.0"),
        "c-mp-0": (WORKER, "v1.33.0"),
    }
    assert machines["c-init"].machine.target.infrastructure == "docker"
    assert machines["c-md-0"].cluster.endpoint == clusterpb.Endpoint(host="cp.example.com", port=7443)
    assert [gate.name for gate in machines["c-join"].spec.kubernetes.feature_gates] == ["ControlPlaneKubeletLocalMode"]
    assert [str(note).partition(": a")[0] for note in found.notes if "patches" in str(note)] == [
        "f.yaml:28:1: KubeadmControlPlaneTemplate/cp",
        "f.yaml:33:1: KubeadmConfigTemplate/w",
    ]


def test_a_topology_needs_its_class() -> None:
    """Without it nobody knows the machines."""
    with pytest.raises(SourceError) as caught:
        manifests(TOPOLOGY)
    assert [(each.path, each.position) for each in caught.value.problems] == [("spec.topology", Position(7, 3))]


def test_a_class_without_a_cluster_gives_its_templates() -> None:
    """Each template is taken for machines of its own."""
    assert {name: each.machine.role for name, each in by_name(manifests(CLASS)).items()} == {
        "cp-init": INIT,
        "cp-join": JOIN,
        "w": WORKER,
    }
