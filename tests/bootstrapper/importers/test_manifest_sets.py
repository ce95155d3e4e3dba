"""Manifest sets, as they stand in repositories, give the machines that Cluster API would make of them."""

import pytest

from slipway.bootstrapper.importers.foreign_config import ForeignConfig, Surroundings
from slipway.bootstrapper.importers.kubeadm_import import import_config
from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.bootstrapper.importers.substitution import expand
from slipway.contract.source_position import Position, SourceError
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.bootstrapper.importers.manifest_texts import (
    CLUSTER,
    INIT,
    JOIN,
    VARIABLES,
    WORKER,
    by_name,
    line_of,
    manifests,
)


def test_a_cluster_gives_all_of_its_machines() -> None:
    """A control plane means a first and further machines, a deployment workers, each with what is known of it."""
    found = manifests(CLUSTER, variables=VARIABLES)
    machines = by_name(found)
    assert {
        name: (each.machine.role, each.machine.kubernetes_version, each.replicas) for name, each in machines.items()
    } == {
        "c1-cp-init": (INIT, "v1.34.1", 1),
        "c1-cp-join": (JOIN, "v1.34.1", 2),
        "c1-win": (WORKER, "v1.33.0", 2),
    }
    first, workers = machines["c1-cp-init"], machines["c1-win"]
    assert first.cluster == clusterpb.Cluster(
        name="c1",
        namespace="ns",
        endpoint=clusterpb.Endpoint(host="10.0.0.9", port=8443),
        kubernetes_version="v1.34.1",
        pod_cidrs=["192.168.0.0/16"],
        service_cidrs=["10.96.0.0/12"],
        service_domain="k8s.example.com",
        control_plane="kubeadm",
    )
    assert [each.name for each in found.clusters] == ["c1"]
    assert first.machine.target == clusterpb.Target(infrastructure="vsphere")
    assert workers.machine.target == clusterpb.Target(infrastructure="vsphere", os_family=clusterpb.OS_FAMILY_WINDOWS)
    assert (first.origin.document, first.origin.path) == ("KubeadmControlPlane/c1-cp", "spec.kubeadmConfigSpec")
    assert (workers.file, workers.position) == ("f.yaml", Position(line_of("    spec:\n      preKubeadmCommands"), 5))
    assert first.spec.init.kubernetes.node.name.segments[0].fact.kind == contentpb.FACT_KIND_SHORT_HOSTNAME
    assert [gate.name for gate in first.spec.engine_options.kubeadm.feature_gates] == ["ControlPlaneKubeletLocalMode"]


def test_only_secrets_that_are_referred_to_come_along() -> None:
    """A machine gets what its contentFrom names, and nothing else of the Secret; others get nothing."""
    found = manifests(CLUSTER, variables=VARIABLES)
    given = {
        each.machine.name: [(one.name, one.key, one.value) for one in each.secrets.secrets] for each in found.machines
    }
    assert given == {"c1-cp-init": [], "c1-cp-join": [], "c1-win": [("user", "text.lines", b"hello\n")]}
    assert "hello" not in repr(found.notes)


def test_nothing_secret_is_in_a_repr() -> None:
    """Whoever logs a result, or what it was made from, logs no content."""
    found = manifests(CLUSTER.replace("[echo]", "[canary]").replace("text: hello", "text: canary"), variables=VARIABLES)
    (document,) = load_documents("a: canary", file="f")
    config = ForeignConfig("K", "n", "v1beta2", document.value, document.source, ())
    surroundings = Surroundings(secrets={("s", "k"): b"canary"})
    expansion = expand("canary", file="f", variables={})
    for each in (
        found,
        found.machines[-1],
        document,
        config,
        surroundings,
        expansion,
        import_config(config_of("canary")),
    ):
        assert "canary" not in repr(each)


def config_of(text: str) -> ForeignConfig:
    """Give a config whose only file holds a text."""
    (document,) = load_documents(f"files: [{{path: /a, content: {text}}}]", file="f")
    return ForeignConfig("KubeadmConfig", "n", "x/v1beta2", document.value, document.source, ())


def test_what_is_left_alone_is_noted() -> None:
    """Kinds that tell nothing are named once; YAML within a ConfigMap is only text."""
    notes = [str(note) for note in manifests(CLUSTER, variables=VARIABLES).notes]
    place = f"f.yaml:{line_of('kind: ClusterResourceSet')}:1"
    said = "says nothing about the bootstrap of machines, and is left alone"
    assert notes == [f"{place}: ClusterResourceSet/addon: {said}"]


def test_a_first_look_needs_nothing() -> None:
    """With set_missing everything that is missing gets a placeholder and a note."""
    text = CLUSTER.replace("stringData: {text: hello, unused: x}", "").replace("version: v1.33.0", "")
    found = manifests(text, set_missing=True)
    assert {each.machine.kubernetes_version for each in found.machines} == {"v1.34.0"}
    assert found.machines[0].cluster.endpoint.host == "192.0.2.10"
    assert [one.value for each in found.machines for one in each.secrets.secrets] == [b"placeholder"]
    assert len(found.notes) == 5


def test_a_placeholder_for_all_data_refuses_nothing() -> None:
    """With set_missing a ConfigMap whose data is one variable is left aside with a note; two names stay two objects."""
    text = CLUSTER
    for name in ("CNI", "CSI"):
        head = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: '${{{name}_NAME}}'}}\n"
        text += f"\n---\n{head}data: ${{{name}_RESOURCES}}\n"
    notes = [str(note) for note in manifests(text, variables=VARIABLES, set_missing=True).notes]
    assert sum("stands for all of its data" in note for note in notes) == 2


def test_files_belong_together() -> None:
    """Objects of one file may name those of another, and all undefined variables are told at once."""
    first, second = CLUSTER.split("---\napiVersion: cluster.x-k8s.io/v1beta1", 1)
    files = {"a.yaml": first, "b.yaml": "apiVersion: cluster.x-k8s.io/v1beta1" + second}
    assert len(read_manifests(files, variables=VARIABLES).machines) == 3
    with pytest.raises(SourceError) as caught:
        read_manifests(files)
    assert [(problem.file, problem.message.split(" is not set")[0]) for problem in caught.value.problems] == [
        ("a.yaml", "the variable CLUSTER_NAME"),
        ("a.yaml", "the variable CONTROL_PLANE_ENDPOINT_IP"),
        ("a.yaml", "the variable KUBERNETES_VERSION"),
        ("b.yaml", "the variable CLUSTER_NAME"),
    ]


def test_what_went_through_clusterctl_is_read_as_it_stands() -> None:
    """Without substitution a shell's own ${...} is text."""
    text = """
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
    kind: KubeadmConfig
    metadata: {name: a}
    spec: {preKubeadmCommands: ['echo ${A[@]}']}
    """
    (machine,) = manifests(text, substitute=False).machines
    assert machine.spec.commands.pre[0].script.text == "echo ${A[@]}"
    with pytest.raises(SourceError, match=r"f.yaml:5:35: a \$\{ without its }"):
        manifests(text)


def test_secrets_of_the_cluster_are_not_the_users() -> None:
    """A reference to the cluster's CA gets no placeholder."""
    join = "joinConfiguration: {discovery: {file: {kubeConfigPath: /k, kubeConfig: {user: {exec: {command: a}}}}}}"
    found = manifests(CLUSTER.replace("preKubeadmCommands: [echo]", join), variables=VARIABLES, set_missing=True)
    assert [one.name for each in found.machines for one in each.secrets.secrets] == ["user"]
