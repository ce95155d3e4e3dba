"""A cluster with a topology has the machines that its class describes."""

import pytest

from slipway.contract.source_position import Position, SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.manifest_texts import CLASS, INIT, JOIN, TOPOLOGY, WORKER, by_name, manifests


def test_a_topology_is_what_its_class_says() -> None:
    """A class without patches gives its templates as they stand."""
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
    assert [gate.name for gate in machines["c-join"].spec.engine_options.kubeadm.feature_gates] == [
        "ControlPlaneKubeletLocalMode"
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


def test_a_class_may_stand_in_another_namespace() -> None:
    """Its templates stand beside it; Secrets, cluster and machines are of the Cluster's namespace."""
    elsewhere = CLASS.replace("metadata: {name: ", "metadata: {namespace: classes, name: ").replace(
        "imageRepository: r}", "imageRepository: r}, files: [{path: /a, contentFrom: {secret: {name: s, key: k}}}]"
    )
    secrets = "".join(
        f"\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: {each}}}\nstringData: {{k: {each}}}"
        for each in ("classes", "mine")
    )
    own = TOPOLOGY.replace("metadata: {name: c}", "metadata: {name: c, namespace: mine}")
    for words in ("classRef: {name: quick, namespace: classes}", "class: quick\n    classNamespace: classes"):
        text = own.replace("classRef: {name: quick}", words)
        found = by_name(manifests(text + elsewhere + secrets))
        assert set(found) == {"c-init", "c-join", "c-md-0", "c-mp-0"}
        first = found["c-init"]
        assert (first.cluster.namespace, first.machine.target.infrastructure) == ("mine", "docker")
        assert [one.value for one in first.secrets.secrets] == [b"mine\n"]
    with pytest.raises(SourceError, match="the ClusterClass is not among the documents"):
        manifests(own + elsewhere)


@pytest.mark.parametrize(("replicas", "further"), [("replicas: 3", 2), ("replicas: 1", 0), ("metadata: {}", None)])
def test_a_topology_says_how_many_machines_there_are(replicas: str, further: int | None) -> None:
    """Of the control plane, too: one begins, the others join."""
    found = by_name(manifests(TOPOLOGY.replace("workers:", f"controlPlane: {{{replicas}}}\n    workers:") + CLASS))
    assert {name: each.replicas for name, each in found.items()} == {
        "c-init": 1,
        "c-join": further,
        "c-md-0": 4,
        "c-mp-0": None,
    }


def test_a_template_of_the_class_that_nothing_is_made_of_is_no_machine() -> None:
    """Cluster API makes none of it either; a note tells."""
    text = TOPOLOGY.replace("      machinePools: [{class: pool, name: mp-0}]\n", "") + CLASS.replace(
        "{bootstrap: {ref: {kind: KubeadmConfigTemplate, name: w}}}",
        "{bootstrap: {ref: {kind: KubeadmConfigTemplate, name: p}}}",
    )
    text += "---" + CLASS.rpartition("---")[2].replace("name: w", "name: p")
    found = manifests(text)
    assert set(by_name(found)) == {"c-init", "c-join", "c-md-0"}
    assert "KubeadmConfigTemplate/p: a ClusterClass names it, and no machines" in "".join(map(str, found.notes))


def test_a_template_that_another_cluster_of_the_class_uses_is_not_left_alone() -> None:
    """A note that says so would be untrue of a template that a later Cluster of the class, or a pool, is made of."""
    pool = "      machinePools: [{class: pool, name: mp-0}]\n"
    worker = "{bootstrap: {ref: {kind: KubeadmConfigTemplate, name: w}}}"
    text = TOPOLOGY.replace(pool, "") + CLASS.replace(worker, worker.replace("name: w", "name: p"))
    text += "---" + CLASS.rpartition("---")[2].replace("name: w", "name: p")
    found = manifests(text + "---" + TOPOLOGY.replace("name: c}", "name: d}"))
    assert "d-mp-0" in by_name(found)
    assert "left alone" not in "".join(map(str, found.notes))


def test_of_a_topology_only_what_was_not_made_yet_comes_from_the_class() -> None:
    """As core leaves it half way, or as somebody has asked for some kinds only."""
    own = "cluster.x-k8s.io/cluster-name: c, topology.cluster.x-k8s.io/owned: ''"
    plane = f"""---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {{name: c-xyz, labels: {{{own}}}}}
spec: {{version: v1.33.0, kubeadmConfigSpec: {{}}}}
"""
    workers = f"""---
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {{name: c-md-0-abc, labels: {{{own}, topology.cluster.x-k8s.io/deployment-name: md-0}}}}
spec:
  clusterName: c
  template:
    spec: {{clusterName: c, version: v1.33.0, bootstrap: {{configRef: {{kind: KubeadmConfigTemplate, name: w}}}}}}
"""
    pool, first = {"c-mp-0"}, {"c-init", "c-join"}
    assert set(by_name(manifests(TOPOLOGY + CLASS + plane))) == {"c-xyz-init", "c-xyz-join", "c-md-0", *pool}
    assert set(by_name(manifests(TOPOLOGY + CLASS + workers))) == {*first, "c-md-0-abc", *pool}
    both = manifests(TOPOLOGY + CLASS + plane + workers)
    assert set(by_name(both)) == {"c-xyz-init", "c-xyz-join", "c-md-0-abc", *pool}
    without = manifests(TOPOLOGY + plane)
    assert set(by_name(without)) == {"c-xyz-init", "c-xyz-join"}
    assert [name for name in ("md-0", "mp-0") if f"{name} is left out" in str(without.notes)] == ["md-0", "mp-0"]
