"""Manifest sets, as they stand in repositories, give the machines that Cluster API would make of them."""

# ruff: noqa: E501  # the tables read best with one case a line

from textwrap import dedent

import pytest

from bootstrapper.importers.foreign_config import ForeignConfig, Surroundings
from bootstrapper.importers.kubeadm_import import import_config
from bootstrapper.importers.manifest_set import ManifestMachine, ManifestSet
from bootstrapper.importers.manifests import read_manifests
from bootstrapper.importers.substitution import expand
from services.contract.source_position import Position, SourceError
from services.contract.yaml_source import load_documents
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb

INIT, JOIN, WORKER = clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER

CLUSTER = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: "${CLUSTER_NAME}", namespace: ns}
spec:
  clusterNetwork:
    pods: {cidrBlocks: [192.168.0.0/16]}
    services: {cidrBlocks: [10.96.0.0/12]}
    serviceDomain: k8s.example.com
  controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io, kind: KubeadmControlPlane, name: "${CLUSTER_NAME}-cp"}
  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: VSphereCluster, name: "${CLUSTER_NAME}"}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: VSphereCluster
metadata: {name: "${CLUSTER_NAME}", namespace: ns}
spec: {controlPlaneEndpoint: {host: "${CONTROL_PLANE_ENDPOINT_IP}", port: 8443}, server: x}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlane
metadata: {name: "${CLUSTER_NAME}-cp", namespace: ns}
spec:
  replicas: 3
  version: ${KUBERNETES_VERSION}
  machineTemplate: {spec: {infrastructureRef: {kind: VSphereMachineTemplate, name: linux}}}
  kubeadmConfigSpec:
    clusterConfiguration: {imageRepository: r.example.com}
    initConfiguration: {nodeRegistration: {name: "{{ local_hostname }}"}}
    joinConfiguration: {nodeRegistration: {name: "{{ local_hostname }}"}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: "${CLUSTER_NAME}-win", namespace: ns}
spec:
  clusterName: "${CLUSTER_NAME}"
  replicas: 2
  selector: {matchLabels: null}
  template:
    spec:
      clusterName: "${CLUSTER_NAME}"
      version: v1.33.0
      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: win}}
      infrastructureRef: {kind: VSphereMachineTemplate, name: windows}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: win, namespace: ns}
spec:
  template:
    spec:
      preKubeadmCommands: [echo]
      files: [{path: 'C:/a', contentFrom: {secret: {name: user, key: text}}}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: VSphereMachineTemplate
metadata: {name: windows, namespace: ns}
spec: {template: {spec: {os: Windows}}}
---
apiVersion: v1
kind: Secret
metadata: {name: user, namespace: ns}
stringData: {text: hello, unused: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: addon, namespace: ns}
data:
  addon.yaml: |
    ---
    kind: KubeadmControlPlane
    spec: {kubeadmConfigSpec: {nonsense: true}}
---
apiVersion: addons.cluster.x-k8s.io/v1beta2
kind: ClusterResourceSet
metadata: {name: addon, namespace: ns}
"""
VARIABLES = {"CLUSTER_NAME": "c1", "CONTROL_PLANE_ENDPOINT_IP": "10.0.0.9", "KUBERNETES_VERSION": "v1.34.1"}


def manifests(text: str, **arguments: object) -> ManifestSet:
    """Read one file."""
    return read_manifests({"f.yaml": dedent(text)}, **arguments)  # type: ignore[arg-type]


def line_of(text: str) -> int:
    """Give the line of the cluster's file in which a text starts."""
    return CLUSTER[: CLUSTER.index(text)].count("\n") + 1


def by_name(found: ManifestSet) -> dict[str, ManifestMachine]:
    """Give the machines by name."""
    return {each.machine.name: each for each in found.machines}


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
    assert [gate.name for gate in first.spec.kubernetes.feature_gates] == ["ControlPlaneKubeletLocalMode"]


def test_only_secrets_that_are_referred_to_come_along() -> None:
    """The material holds what contentFrom names, and nothing else of the Secret."""
    found = manifests(CLUSTER, variables=VARIABLES)
    assert [(each.name, each.key, each.value) for each in found.secrets.secrets] == [("user", "text", b"hello")]
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
    assert [each.value for each in found.secrets.secrets] == [b"placeholder"]
    assert len(found.notes) == 5


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


LONE = [
    ("KubeadmConfig", "spec: {}", WORKER, "nothing said"),
    ("KubeadmConfig", "spec: {joinConfiguration: {controlPlane: {}}}", JOIN, "a further control plane"),
    ("KubeadmConfig", "spec: {clusterConfiguration: {imageRepository: r}}", INIT, "a first one"),
    ("KubeadmConfigTemplate", "spec: {template: {spec: {joinConfiguration: {}}}}", WORKER, "a template"),
    ("KubeadmConfigTemplate", "", WORKER, "an empty template"),
]


@pytest.mark.parametrize(("kind", "spec", "role", "reason"), LONE)
def test_a_config_without_owner_is_a_machine_of_its_own(
    kind: str, spec: str, role: clusterpb.Role.ValueType, reason: str
) -> None:
    """Its role is what the config says."""
    found = manifests(f"apiVersion: bootstrap.cluster.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: a}}\n{spec}\n")
    assert [(each.machine.name, each.machine.role) for each in found.machines] == [("a", role)], reason
    assert "taken for a machine of its own" in str(found.notes[0])


def test_pools_and_machines_are_read() -> None:
    """MachinePool, MachineSet and Machine name their configs as deployments do; a label makes a control plane."""
    text = """
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: MachinePool
    metadata: {name: pool}
    spec:
      clusterName: c
      template: {spec: {bootstrap: {configRef: {kind: KubeadmConfig, name: p}}, version: v1.32.0,
                        infrastructureRef: {kind: AWSMachinePool, name: p}}}
    ---
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
    kind: KubeadmConfig
    metadata: {name: p}
    ---
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
    kind: AWSMachinePool
    metadata: {name: p}
    spec: {awsLaunchTemplate: {imageLookupBaseOS: ubuntu-22.04}}
    ---
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: Machine
    metadata: {name: m, labels: {cluster.x-k8s.io/control-plane: ""}}
    spec: {clusterName: c, version: v1.32.0, bootstrap: {configRef: {kind: KubeadmConfig, name: m}}}
    ---
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
    kind: KubeadmConfig
    metadata: {name: m}
    spec: {joinConfiguration: {controlPlane: {}}}
    ---
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: MachineSet
    metadata: {name: own}
    spec: {clusterName: c, template: {spec: {bootstrap: {dataSecretName: mine}}}}
    ---
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: MachineSet
    metadata: {name: other}
    spec: {clusterName: c, template: {spec: {bootstrap: {configRef: {kind: KThreesConfigTemplate, name: x}}}}}
    """
    found = manifests(text)
    machines = by_name(found)
    assert {name: each.machine.role for name, each in machines.items()} == {"pool": WORKER, "m": JOIN}
    assert machines["pool"].machine.target == clusterpb.Target(
        infrastructure="aws", distribution="ubuntu", os_version="22.04", os_family=clusterpb.OS_FAMILY_LINUX
    )
    assert machines["pool"].cluster.name == "c"
    assert [str(note).split(": ", 2)[1:] for note in found.notes] == [
        ["MachineSet/own", "it has no config of its own, and is left alone"],
        ["MachineSet/other", "its config is of a kind that is not read here, and is left alone"],
    ]


BASE_OS = [
    ("AWSMachineTemplate", "imageLookupBaseOS: flatcar-stable", "aws", "flatcar", ""),
    ("AWSMachineTemplate", "imageLookupBaseOS: amazon-2", "aws", "amzn", "2"),
    ("AzureMachineTemplate", "osDisk: {osType: Windows}", "azure", "", ""),
    ("GCPMachineTemplate", "image: x", "gcp", "", ""),
    ("OpenStackMachineTemplate", "os: 5", "openstack", "", ""),
    ("CloudStackMachineTemplate", "", "cloudstack", "", ""),
    ("KubevirtMachineTemplate", "", "kubevirt", "", ""),
    ("DockerMachineTemplate", "", "docker", "", ""),
    ("DevMachineTemplate", "", "docker", "", ""),
    ("Metal3MachineTemplate", "", "metal", "", ""),
    ("DeviousMachineTemplate", "", "", "", ""),
]


@pytest.mark.parametrize(("kind", "spec", "infrastructure", "distribution", "version"), BASE_OS)
def test_infrastructure_kinds_tell_the_target(
    kind: str, spec: str, infrastructure: str, distribution: str, version: str
) -> None:
    """The kind says where a machine runs, a field or two what it is; a field in an unknown form tells nothing."""
    text = f"""
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: MachineDeployment
    metadata: {{name: md}}
    spec:
      clusterName: c
      template: {{spec: {{bootstrap: {{configRef: {{kind: KubeadmConfigTemplate, name: a}}}},
                         infrastructureRef: {{kind: {kind}, name: a}}}}}}
    ---
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
    kind: KubeadmConfigTemplate
    metadata: {{name: a}}
    ---
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: {kind}
    metadata: {{name: a}}
    spec: {{template: {{spec: {{{spec}}}}}}}
    """
    target = manifests(text).machines[0].machine.target
    assert (target.infrastructure, target.distribution, target.os_version) == (infrastructure, distribution, version)
    assert (target.os_family == clusterpb.OS_FAMILY_WINDOWS) == ("Windows" in spec)


TOPOLOGY = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c}
spec:
  controlPlaneEndpoint: {host: cp.example.com, port: 7443}
  topology:
    classRef: {name: quick}
    version: v1.33.0
    workers:
      machineDeployments: [{class: small, name: md-0, replicas: 4}]
      machinePools: [{class: pool, name: mp-0}]
"""
CLASS = """
---
apiVersion: cluster.x-k8s.io/v1beta2
kind: ClusterClass
metadata: {name: quick}
spec:
  controlPlane:
    templateRef: {kind: KubeadmControlPlaneTemplate, name: cp}
    machineInfrastructure: {templateRef: {kind: DockerMachineTemplate, name: cp}}
  workers:
    machineDeployments: [{class: small, bootstrap: {templateRef: {kind: KubeadmConfigTemplate, name: w}},
                          infrastructure: {templateRef: {kind: DockerMachineTemplate, name: w}}}]
    machinePools: [{class: pool, template: {bootstrap: {ref: {kind: KubeadmConfigTemplate, name: w}}}}]
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta2
kind: KubeadmControlPlaneTemplate
metadata: {name: cp}
spec: {template: {spec: {kubeadmConfigSpec: {clusterConfiguration: {imageRepository: r}}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: w}
"""


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


REFUSED = [
    (TOPOLOGY + CLASS.replace("class: small", "class: large"), "spec.topology.workers.machineDeployments[0].class", "its class"),
    (CLUSTER.replace("name: win}}", "name: lost}}"), "spec.template.spec.bootstrap.configRef", "the config is not among"),
    (CLUSTER.replace("replicas: 3", "replicsa: 3"), "spec.replicsa", "unknown field; did you mean replicas?"),
    (CLUSTER.replace("version: ${KUBERNETES_VERSION}", "version: 1.34"), "spec.version", "must be text: put"),
    (CLUSTER.replace("serviceDomain:", "serviceDomian:"), "spec.clusterNetwork.serviceDomian", "unknown field"),
    (CLUSTER.replace("name: windows, namespace", "name: linux, namespace") + "---\n" + CLUSTER, "metadata.name", "another document"),
    (CLUSTER.replace("stringData: {text: hello, unused: x}", "data: {text: '*'}"), "data.text", "must be base64"),
    ("- a\n", "", "must be a mapping of fields"),
    ("apiVersion: v1\nkind: [x]\n", "kind", "must be text"),
    ("a: [\n", "", "not YAML"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "path", "message"), REFUSED, ids=[case[1] + case[2] for case in REFUSED])
def test_what_is_wrong_is_named(text: str, path: str, message: str) -> None:
    """Every refusal names file, line and path."""
    with pytest.raises(SourceError) as caught:
        manifests(text, variables=VARIABLES)
    problem = caught.value.problems[0]
    assert (problem.file, problem.path) == ("f.yaml", path)
    assert problem.message.startswith(message)
    assert problem.position is not None


def test_all_problems_of_all_configs_come_at_once() -> None:
    """A person sees everything that is wrong in one go."""
    text = CLUSTER.replace("imageRepository: r.example.com", "imageRepositry: x").replace(
        "[echo]", "[echo]\n      a: 1"
    )
    with pytest.raises(SourceError) as caught:
        manifests(text, variables=VARIABLES)
    assert [problem.message.partition(";")[0] for problem in caught.value.problems] == ["unknown field"] * 2


def test_an_endpoint_of_kubeadms_own_wins_on_control_planes() -> None:
    """As today: kubeadm's file names it, discovery and workers go to the cluster's."""
    own = "clusterConfiguration: {controlPlaneEndpoint: 'own.example.com:7443', "
    machines = by_name(manifests(CLUSTER.replace("clusterConfiguration: {", own), variables=VARIABLES))
    assert machines["c1-cp-init"].cluster.endpoint == clusterpb.Endpoint(host="own.example.com", port=7443)
    assert machines["c1-win"].cluster.endpoint.host == "10.0.0.9"
    assert machines["c1-cp-join"].spec.join.kubernetes.discovery.token.endpoint == "10.0.0.9:8443"
    assert not machines["c1-cp-init"].spec.join.kubernetes.HasField("discovery")


def test_an_endpoint_in_a_workers_config_has_no_effect() -> None:
    """As today a worker's clusterConfiguration says nothing."""
    text = CLUSTER.replace("preKubeadmCommands: [echo]", "clusterConfiguration: {controlPlaneEndpoint: x.example.com}")
    assert by_name(manifests(text, variables=VARIABLES))["c1-win"].cluster.endpoint.host == "10.0.0.9"


def test_secrets_of_the_cluster_are_not_the_users() -> None:
    """A reference to the cluster's CA gets no placeholder."""
    join = "joinConfiguration: {discovery: {file: {kubeConfigPath: /k, kubeConfig: {user: {exec: {command: a}}}}}}"
    found = manifests(CLUSTER.replace("preKubeadmCommands: [echo]", join), variables=VARIABLES, set_missing=True)
    assert [each.name for each in found.secrets.secrets] == ["user"]


def test_versions_get_their_v() -> None:
    """Cluster API's webhooks put it in front."""
    found = manifests(CLUSTER, variables={**VARIABLES, "KUBERNETES_VERSION": "1.34.1"})
    assert found.machines[0].machine.kubernetes_version == "v1.34.1"


def test_lists_and_equal_names_are_read() -> None:
    """The items of a List are objects; machine sets of one name are told apart."""
    text = """
    apiVersion: v1
    kind: List
    items:
    - {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfig, metadata: {name: a}}
    - {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, metadata: {name: a}}
    """
    assert [each.machine.name for each in manifests(text).machines] == ["a", "a-2"]


def test_nothing_to_read_is_no_error() -> None:
    """A file without any of the kinds has no machines."""
    found = manifests("# nothing\n---\n")
    assert (found.machines, found.notes) == ((), ())
