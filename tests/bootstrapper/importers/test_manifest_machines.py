"""Whatever makes machines in a set is found: pools, single machines, configs that nobody names."""

import pytest

from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.manifest_texts import (
    CLUSTER,
    INIT,
    JOIN,
    VARIABLES,
    WORKER,
    by_name,
    manifests,
)

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
    ("HCloudMachineTemplate", "", "hetzner", "", ""),
    ("HetznerBareMetalMachineTemplate", "", "hetzner-bare-metal", "", ""),
    ("LinodeMachineTemplate", "", "linode", "", ""),
    ("NutanixMachineTemplate", "", "nutanix", "", ""),
    ("OCIMachineTemplate", "", "oci", "", ""),
    ("ProxmoxMachineTemplate", "", "proxmox", "", ""),
    ("PacketMachineTemplate", "", "equinix", "", ""),
    ("TinkerbellMachineTemplate", "", "tinkerbell", "", ""),
    ("DeviousMachineTemplate", "", "", "", ""),
]


def target_of(kind: str, spec: str) -> clusterpb.Target:
    """Return what an import knows of a worker whose infrastructure machine has such a kind and fields."""
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
    return manifests(text).machines[0].machine.target


@pytest.mark.parametrize(("kind", "spec", "infrastructure", "distribution", "version"), BASE_OS)
def test_infrastructure_kinds_tell_the_target(
    kind: str, spec: str, infrastructure: str, distribution: str, version: str
) -> None:
    """The kind says where a machine runs, a field or two what it is; a field in an unknown form tells nothing."""
    target = target_of(kind, spec)
    assert (target.infrastructure, target.distribution, target.os_version) == (infrastructure, distribution, version)
    assert (target.os_family == clusterpb.OS_FAMILY_WINDOWS) == ("Windows" in spec)


SETTINGS = [
    ("AWSMachineTemplate", "instanceType: t3.large", False, "the provider keeps user data in Secrets Manager"),
    ("AWSMachineTemplate", "cloudInit: {insecureSkipSecretsManager: true}", True, "they go to EC2 as they are"),
    (
        "AWSMachineTemplate",
        "cloudInit: {insecureSkipSecretsManager: true}, uncompressedUserData: false",
        False,
        "the provider compresses them",
    ),
    ("AWSMachineTemplate", "ignition: {storageType: UnencryptedUserData}", True, "no bucket is used"),
    ("AWSMachineTemplate", "ignition: {storageType: ClusterObjectStore}", False, "a bucket is used"),
    ("CloudStackMachineTemplate", "uncompressedUserData: true", True, "the provider does not compress"),
    ("CloudStackMachineTemplate", "sshKey: a", False, "the provider compresses"),
    ("DockerMachineTemplate", "uncompressedUserData: true", False, "the field means nothing there"),
]


@pytest.mark.parametrize(("kind", "spec", "unchanged", "reason"), SETTINGS)
def test_settings_of_the_infrastructure_are_read(kind: str, spec: str, unchanged: bool, reason: str) -> None:
    """What the provider does to user data on their way depends on the infrastructure object, and is read from it."""
    assert target_of(kind, spec).user_data_unchanged is unchanged, reason


def test_versions_get_their_v() -> None:
    """Cluster API's webhooks put it in front."""
    found = manifests(CLUSTER, variables={**VARIABLES, "KUBERNETES_VERSION": "1.34.1"})
    assert found.machines[0].machine.kubernetes_version == "v1.34.1"


def test_lists_and_equal_names_are_read() -> None:
    """The items of a List are objects; machine sets of the same name get names of their own."""
    text = """
    apiVersion: v1
    kind: List
    items:
    - {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfig, metadata: {name: a}}
    - {apiVersion: bootstrap.cluster.x-k8s.io/v1beta2, kind: KubeadmConfigTemplate, metadata: {name: a}}
    """
    assert [each.machine.name for each in manifests(text).machines] == ["a", "a-2"]


ANNOTATION = "bootstrap.slipway.dev/distribution"
STATED = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: MachineDeployment
metadata: {name: md}
spec:
  clusterName: c
  template: {spec: {bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: a}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta2
kind: KubeadmConfigTemplate
metadata: {name: a%s}
spec: {template: {%s spec: {}}}
"""


@pytest.mark.parametrize(
    ("place", "text", "expected"),
    [("of", "rhel 9.4", ("rhel", "9.4")), ("within", "ol", ("ol", "")), ("within", " sles  15.6 ", ("sles", "15.6"))],
)
def test_an_annotation_states_the_distribution(place: str, text: str, expected: tuple[str, str]) -> None:
    """On the object that has the config, or on the configs that are made of it."""
    annotations = f"annotations: {{{ANNOTATION}: '{text}'}}"
    parts = (f", {annotations}", "") if place == "of" else ("", f"metadata: {{{annotations}}},")
    (machine,) = read_manifests({"f.yaml": STATED % parts}, set_missing=True).machines
    assert (machine.machine.target.distribution, machine.machine.target.os_version) == expected


def test_an_annotation_of_another_form_is_refused() -> None:
    """With its place."""
    text = STATED % (f", annotations: {{{ANNOTATION}: Ubuntu Noble}}", "")
    with pytest.raises(SourceError, match=r"metadata\.annotations\[?.*distribution\]?: must be the ID of os-release"):
        read_manifests({"f.yaml": text}, set_missing=True)
