"""What cloud-init renders today is still rendered, whatever the infrastructure tells its machines."""

from textwrap import dedent

import pytest

from bootstrapper.importers.manifests import read_manifests
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import spec_pb2 as specpb

CONFIG = """
    apiVersion: cluster.x-k8s.io/v1beta1
    kind: Machine
    metadata: {{name: m}}
    spec:
      clusterName: c
      version: v1.34.0
      bootstrap: {{configRef: {{kind: KubeadmConfig, name: k}}}}
      infrastructureRef: {{kind: {kind}, name: i}}
    ---
    apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
    kind: KubeadmConfig
    metadata: {{name: k}}
    spec:
      joinConfiguration:
        nodeRegistration: {{name: "{name}", kubeletExtraArgs: {{node-labels: "{label}"}}}}
      files: [{{path: /etc/a, content: "{content}"}}]
"""
HOST, UUID, OTHER = "{{ ds.meta_data.local_hostname }}", "{{ ds.meta_data.uuid }}", "{{ ds.meta_data.other }}"

TABLE = [
    ("AWSMachine", HOST, "a=b", "x", "fact", "", "the infrastructure tells its machines the name"),
    ("HcloudMachine", HOST, "a=b", "x", "template", "", "nobody can ask this infrastructure: Jinja as today"),
    ("Metal3Machine", HOST, "a=b", "x", "fact", "", "the machine itself knows its name"),
    ("Metal3Machine", UUID, "a=b", "x", "template", "", "metal has no source of an instance id"),
    ("Metal3Machine", HOST, f"u={UUID}", "x", "template", "", "one file can not hold a fact and Jinja"),
    ("AWSMachine", HOST, "a=b", f"{HOST} {OTHER}", "template", "template template", "neither can a file of the user"),
    ("AWSMachine", HOST, "a=b", f"{OTHER}", "fact", "template", "two files can"),
]


@pytest.mark.parametrize(
    ("kind", "name", "label", "content", "of_name", "of_content", "reason"), TABLE, ids=[row[-1] for row in TABLE]
)
def test_jinja_becomes_a_fact_only_where_the_file_can_still_be_made(  # noqa: PLR0913, PLR0917  # a row
    kind: str, name: str, label: str, content: str, of_name: str, of_content: str, reason: str
) -> None:
    """A fact in place of Jinja must never take a config away from the format that it was written for."""
    text = dedent(CONFIG).format(kind=kind, name=name, label=label, content=content)
    (machine,) = read_manifests({"f.yaml": text}).machines
    kinds = [str(segment.WhichOneof("value")) for segment in machine.spec.kubernetes.node.name.segments]
    assert kinds == [of_name], reason
    assert _kinds(machine.spec) == of_content.split(), reason


def test_a_default_infrastructure_is_known_while_configs_are_read() -> None:
    """Where the manifests do not tell the infrastructure, the given one decides what is a fact."""
    text = dedent(CONFIG).format(kind="HcloudMachine", name=HOST, label="a=b", content="x")
    (machine,) = read_manifests({"f.yaml": text}, infrastructure="openstack").machines
    (segment,) = machine.spec.kubernetes.node.name.segments
    assert segment.fact.kind == contentpb.FACT_KIND_LOCAL_HOSTNAME
    assert machine.machine.target.infrastructure == "openstack"


def _kinds(spec: specpb.MachineBootstrapSpec) -> list[str]:
    segments = spec.os.files[0].content.segments
    return [str(one.WhichOneof("value")) for one in segments if one.WhichOneof("value") != "text"]
