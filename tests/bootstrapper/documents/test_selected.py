"""A machine that is selected is read, whatever is wrong with documents of others; what is left aside is noted."""

import pytest

from slipway.bootstrapper.documents.document_set import DocumentSet, read_document_set
from slipway.contract.source_position import SourceError

CLUSTER = """\
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: quay}
spec:
  cluster: {endpoint: {host: api.example.com}, kubernetesVersion: v1.34.2}
  machines:
  - {name: good-1, role: Worker, config: good}
"""
CONFIG = """\
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: %s}
spec: %s
"""
GOOD = CONFIG % ("good", "{os: {timeZone: {name: UTC}}}")
NATIVE = CLUSTER + GOOD
CLUSTER_API = """\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: quay}
spec:
  controlPlaneEndpoint: {host: api.example.com, port: 6443}
  controlPlaneRef: {kind: KubeadmControlPlane, name: plane, apiVersion: controlplane.cluster.x-k8s.io/v1beta1}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: good-1}
spec:
  clusterName: quay
  template: {spec: {version: v1.34.2, bootstrap: {configRef: {kind: KubeadmConfigTemplate, name: good}}}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: good}
spec: {template: {spec: {preKubeadmCommands: [mkdir /quay]}}}
"""
PLANE = """\
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: plane}
spec:
  version: %s
  replicas: %s
  kubeadmConfigSpec: {}
"""
POOL = """\
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: %s}
spec: {clusterName: quay, replicas: %s, template: {spec: {bootstrap: {configRef: {kind: %s, name: %s}}}}}
"""
TEMPLATE = "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: other}\n"
BAD_CONFIG = TEMPLATE + "spec: {template: {spec: {kubeadmCommands: [a]}}}\n"
ENTRY = "  - {name: other-1, role: %s, config: %s}\n"

OTHERS = [
    (NATIVE, CONFIG % ("other", "{os: {sysctl: []}}"), "an unknown field of a config that no machine names"),
    (NATIVE, CONFIG % ("other", "3"), "a spec that is a number"),
    (NATIVE, CONFIG % ("5", "{}"), "a config without a name"),
    (NATIVE, (CONFIG % ("a", "{}")) * 2, "two configs of one name"),
    (CLUSTER + ENTRY % ("Worker", "other") + GOOD, "", "a machine whose config is not there"),
    (CLUSTER + ENTRY % ("Worker", "other") + GOOD, CONFIG % ("other", "{os: 1}"), "a machine whose config is wrong"),
    (CLUSTER + ENTRY % ("Captain", "good") + GOOD, "", "a machine with a role that there is not"),
    (CLUSTER + ENTRY % ("Worker, rank: 1", "good") + GOOD, "", "a machine with an unknown field"),
    (CLUSTER + (ENTRY % ("Worker", "good")) * 2 + GOOD, "", "two machines of one name"),
    (
        CLUSTER + ENTRY % ("Captain", "good") + GOOD,
        CONFIG % ("other", "{os: {sysctl: []}}"),
        "a machine and a config that are wrong",
    ),
    (NATIVE, BAD_CONFIG, "a foreign config that is wrong"),
    (NATIVE, POOL % ("other", "many", "KubeadmConfigTemplate", "other") + BAD_CONFIG, "a foreign pool that is wrong"),
    (CLUSTER_API, BAD_CONFIG, "a foreign config without machines"),
    (CLUSTER_API, POOL % ("other", "1", "KubeadmConfigTemplate", "other") + BAD_CONFIG, "a foreign config with a pool"),
    (CLUSTER_API, POOL % ("other", "1", "KubeadmConfigTemplate", "away"), "a pool whose config is not there"),
    (CLUSTER_API, POOL % ("other", "many", "KubeadmConfigTemplate", "good"), "a pool with a number that is none"),
    (CLUSTER_API, POOL % ("other", "1", "SlipwayConfigTemplate", "other"), "a pool whose config of ours is not there"),
    (CLUSTER_API, PLANE % ("v1.34.2", "many"), "a control plane with a number that is none"),
    (CLUSTER_API, PLANE % ("v1.34.2", "${REPLICAS}"), "a control plane with a variable that is not set"),
    (CLUSTER_API, POOL % ("other", "${REPLICAS}", "KubeadmConfigTemplate", "good"), "a pool with a variable likewise"),
    (CLUSTER_API, CONFIG % ("other", "{os: {sysctl: []}}"), "a config of ours that is wrong"),
    (CLUSTER_API, "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\ndata: {a: [1]}\n", "a Secret that is wrong"),
    (CLUSTER_API, "---\na: [1\n", "a document that is no YAML"),
    (NATIVE, "---\na: [1\n", "likewise beside our own"),
]
APART = [(NATIVE, "a: ${B\n", "a variable without its end, whose document nobody can tell")]
CASES = [(*each, apart) for apart in (False, True) for each in OTHERS] + [(*each, True) for each in APART]


def read(texts: dict[str, str], name: str = "good-1") -> DocumentSet:
    return read_document_set(texts, variables={}, only=[name])


@pytest.mark.parametrize(
    ("good", "other", "reason", "apart"),
    CASES,
    ids=[f"{reason}-{'apart' if apart else ''}" for *_, reason, apart in CASES],
)
def test_the_selected_machine_is_read(good: str, other: str, reason: str, *, apart: bool) -> None:
    """As it is without the other documents; a note names each, and without a selection all is refused."""
    texts = {"good.yaml": good, "other.yaml": other} if apart else {"all.yaml": good + other}
    with pytest.raises(SourceError):
        read_document_set(texts, variables={})
    document_set = read(texts)
    alone = NATIVE if "SlipwayCluster" in good else CLUSTER_API + ("" if "${" in other else PLANE % ("v1.34.2", "1"))
    (expected,) = [each for each in read({"alone.yaml": alone}).questions if each.name == "good-1"]
    (question,) = [each for each in document_set.questions if each.name == "good-1"]
    assert question.subject.spec == expected.subject.spec, reason
    assert question.subject.machine == expected.subject.machine
    assert any("left alone" in note.message for note in document_set.notes), reason


NEEDED = [
    (NATIVE.replace("{timeZone", "{timeZne"), "timeZne", "its own config"),
    (NATIVE.replace("role: Worker", "role: Captain"), "role", "its own entry"),
    (NATIVE.replace("kubernetesVersion", "kubernetesVersn"), "kubernetesVersn", "its cluster"),
    (CLUSTER + CONFIG % ("good", "{}") * 2, "another document has the same kind and name", "two of its config's name"),
    (CLUSTER_API.replace("template: {spec: {pre", "template: {spec: {pro"), "proKubeadm", "its own foreign config"),
    (CLUSTER_API.replace("spec: {version", "spec: {versn: a, version"), "versn", "its own pool"),
    (CLUSTER_API.replace("port: 6443", "port: none"), "port", "its own Cluster"),
    (CLUSTER_API.replace("v1.34.2", "${V}"), "the variable V is not set", "a variable of its own pool"),
    (CLUSTER_API.replace("/quay", "${V}"), "the variable V is not set", "a variable of its own config"),
    (CLUSTER_API + PLANE % ("[1]", "1"), "version", "the version of its control plane"),
    (CLUSTER_API + PLANE % ("${V}", "1"), "the variable V is not set", "a variable there"),
]


@pytest.mark.parametrize(("text", "message", "reason"), NEEDED, ids=[reason for *_, reason in NEEDED])
def test_what_the_machine_needs_is_not_left_aside(text: str, message: str, reason: str) -> None:
    """It is refused with the mistake, and never made of what is left."""
    with pytest.raises(SourceError, match=message):
        pytest.fail(f"{reason}: {read({'f.yaml': text}).questions}")
