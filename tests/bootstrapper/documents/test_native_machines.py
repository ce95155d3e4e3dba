"""Cluster API machines that name our own configs, and the Secrets of the same files."""

import pytest

from slipway.bootstrapper.assembly.subject import check
from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.contract.errors import SpecInvalid
from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb

CLUSTER = """
apiVersion: cluster.x-k8s.io/v1beta2
kind: Cluster
metadata: {name: c, namespace: ns}
spec:
  controlPlaneEndpoint: {host: 10.0.0.1, port: 6443}
  clusterNetwork: {pods: {cidrBlocks: [10.1.0.0/16]}}
"""
CONFIG = """
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: %(kind)s
metadata: {name: t, namespace: ns}
spec: %(spec)s
"""
TEMPLATE = CONFIG % {"kind": "SlipwayConfigTemplate", "spec": "{template: {spec: {os: {timeZone: {name: UTC}}}}}"}
SINGLE = CONFIG % {"kind": "SlipwayConfig", "spec": "{os: {timeZone: {name: UTC}}}"}
MACHINES = """
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: %(kind)s
metadata: {name: m, namespace: ns%(labels)s}
spec:
  clusterName: c
  %(replicas)s
  template:
    spec:
      clusterName: c
      version: v1.34.1
      bootstrap: {configRef: {kind: %(config)s, name: t}}
      infrastructureRef: {kind: AWSMachineTemplate, name: i}
"""
MACHINE = """
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: Machine
metadata: {name: %(name)s, namespace: ns%(labels)s}
spec:
  clusterName: c
  version: v1.34.1
  bootstrap: {configRef: {kind: SlipwayConfig, name: t}}
  infrastructureRef: {kind: AWSMachine, name: i}
"""
CONTROL_PLANE = ', labels: {cluster.x-k8s.io/control-plane: ""}'


def questions(text: str, **arguments: object) -> dict[str, MachineQuestion]:
    """Read one file, and give the machines by name."""
    found = read_document_set({"f.yaml": text}, variables={}, **arguments)  # type: ignore[arg-type]
    return {one.name: one for one in found.questions}


OWNERS = [
    ("MachineDeployment", "SlipwayConfigTemplate", TEMPLATE, "replicas: 3", 3),
    ("MachineSet", "SlipwayConfigTemplate", TEMPLATE, "", None),
    ("MachinePool", "SlipwayConfig", SINGLE, "replicas: 2", 2),
]


@pytest.mark.parametrize(("kind", "config", "document", "replicas", "number"), OWNERS, ids=[row[0] for row in OWNERS])
def test_a_set_of_machines_gives_workers(  # a row
    kind: str, config: str, document: str, replicas: str, number: int | None
) -> None:
    """With role, version, cluster, infrastructure and number from Cluster API, and the spec from our own document."""
    text = CLUSTER + MACHINES % {"kind": kind, "config": config, "replicas": replicas, "labels": ""} + document
    (one,) = questions(text).values()
    machine, cluster = one.subject.machine, one.subject.cluster
    assert (machine.name, machine.role, machine.kubernetes_version) == ("m", clusterpb.ROLE_WORKER, "v1.34.1")
    assert (machine.target.infrastructure, one.replicas) == ("aws", number)
    assert (cluster.name, cluster.endpoint.host, list(cluster.pod_cidrs)) == ("c", "10.0.0.1", ["10.1.0.0/16"])
    assert one.subject.spec.os.time_zone.name == "UTC"
    assert one.standing.config == f"{config}/t"


def test_control_plane_machines_begin_and_join() -> None:
    """The first machine with the label begins the cluster, later ones join it; one without it is a worker."""
    text = CLUSTER
    for name, labels in (("a", CONTROL_PLANE), ("b", CONTROL_PLANE), ("w", "")):
        text += MACHINE % {"name": name, "labels": labels}
    found = questions(text + SINGLE)
    assert {name: one.subject.machine.role for name, one in found.items()} == {
        "a": clusterpb.ROLE_INIT,
        "b": clusterpb.ROLE_CONTROL_PLANE,
        "w": clusterpb.ROLE_WORKER,
    }


def test_a_class_may_name_our_own_template() -> None:
    """Workers of a topology have configs of ours as they may have kubeadm's."""
    text = """
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: c}
spec:
  controlPlaneEndpoint: {host: 10.0.0.1}
  topology: {class: k, version: v1.34.0, workers: {machineDeployments: [{class: w, name: pool, replicas: 2}]}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: ClusterClass
metadata: {name: k}
spec:
  workers:
    machineDeployments:
      - class: w
        template:
          bootstrap: {ref: {kind: SlipwayConfigTemplate, name: t}}
          infrastructure: {ref: {kind: DockerMachineTemplate, name: i}}
""" + TEMPLATE.replace(", namespace: ns", "")
    (one,) = questions(text).values()
    assert (one.name, one.subject.machine.target.infrastructure, one.replicas) == ("c-pool", "docker", 2)


def test_a_config_that_machines_name_is_no_machine_of_its_own() -> None:
    """It is theirs; one that nobody names still is one machine, which is remarked."""
    text = CLUSTER + MACHINES % {"kind": "MachineSet", "config": "SlipwayConfigTemplate", "replicas": "", "labels": ""}
    assert set(questions(text + TEMPLATE)) == {"m"}
    alone = TEMPLATE.replace("name: t,", "name: lone,")
    found = questions(text + TEMPLATE + alone)
    assert set(found) == {"m", "lone"}
    assert [one.code for one in found["lone"].diagnostics] == ["ROLE_ASSUMED"]


def test_a_config_in_another_namespace_is_not_found() -> None:
    """A reference does not cross namespaces, as in Cluster API; the place of the reference is told."""
    text = CLUSTER + MACHINES % {"kind": "MachineSet", "config": "SlipwayConfigTemplate", "replicas": "", "labels": ""}
    with pytest.raises(SourceError) as caught:
        questions(text + TEMPLATE.replace("namespace: ns", "namespace: other"))
    assert [str(one) for one in caught.value.problems] == [
        "f.yaml:20:19: spec.template.spec.bootstrap.configRef: the config is not among the documents"
    ]


SECRET = """
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: ns}
stringData: {k: canary, other: never}
"""
WITH_SECRET = CONFIG % {
    "kind": "SlipwayConfigTemplate",
    "spec": "{template: {spec: {os: {files: [{path: /etc/a, content: {secretRef: {name: s, key: k}}}]}}}}",
}


def test_secrets_of_the_files_reach_a_native_spec() -> None:
    """Only what the spec refers to; without it a placeholder is given when asked for, and noted."""
    text = CLUSTER + MACHINES % {"kind": "MachineSet", "config": "SlipwayConfigTemplate", "replicas": "", "labels": ""}
    (one,) = questions(text + WITH_SECRET + SECRET).values()
    assert [(each.name, each.key, each.value) for each in one.secrets.secrets] == [("s", "k", b"canary")]
    (bare,) = questions(text + WITH_SECRET).values()
    assert not bare.secrets.secrets
    found = read_document_set({"f.yaml": text + WITH_SECRET}, variables={}, set_missing=True)
    assert [each.value for each in found.questions[0].secrets.secrets] == [b"placeholder"]
    assert [note.message for note in found.notes] == [
        "the Kubernetes version of the cluster is not known: a placeholder is used",
        "a Secret that it refers to is not among the documents: a placeholder is used",
    ]
    assert "canary" not in repr(found)


CONFIG_MAP_FILES = (
    "{os: {files: [{path: /a, content: {configMapRef: {name: agent, key: text}}},"
    " {path: /b, content: {configMapRef: {name: agent, key: bin}}}]}}"
)
CONFIG_MAP = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: agent, namespace: ns}
data: {text: "a: b\\n"}
binaryData: {bin: AAEC/w==}
"""


def config_map_question(*documents: str, **arguments: object) -> MachineQuestion:
    """Give the machine of a config whose files stand in a ConfigMap."""
    config = CONFIG % {"kind": "SlipwayConfig", "spec": CONFIG_MAP_FILES}
    machine = MACHINE % {"name": "one", "labels": ""}
    (question,) = questions("".join([CLUSTER, config, machine, *documents]), **arguments).values()
    return question


def test_what_a_config_map_holds_takes_the_place_of_the_reference() -> None:
    """Text and bytes arrive as they are."""
    files = config_map_question(CONFIG_MAP).subject.spec.os.files
    assert [one.content.data for one in files] == [b"a: b\n", b"\0\1\2\xff"]


def test_a_config_map_that_is_not_there_is_refused_at_its_reference() -> None:
    """By the bootstrapper; for a first look a placeholder stands for it."""
    question = config_map_question()
    question.subject.machine.role = clusterpb.ROLE_WORKER
    with pytest.raises(SpecInvalid) as caught:
        check(question.subject)
    wanted = [f"SlipwayConfig/t: spec.os.files[{index}].content.configMapRef" for index in range(2)]
    assert [one.path for one in caught.value.violations] == wanted
    filled = config_map_question(set_missing=True).subject.spec.os.files
    assert [one.content.data for one in filled] == [b"placeholder"] * 2


def test_a_config_map_that_is_no_base64_is_told_with_its_place() -> None:
    """As it is for a Secret."""
    with pytest.raises(SourceError, match=r"f\.yaml:\d+:\d+: binaryData\.bin: must be base64"):
        config_map_question(CONFIG_MAP.replace("AAEC/w==", "'%'"))
