"""What cloud-init renders today is still rendered, whatever the infrastructure tells its machines."""

from dataclasses import dataclass
from textwrap import dedent

import pytest

from slipway.bootstrapper.importers.manifests import read_manifests
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.importers.carrying import carried

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


@dataclass(frozen=True)
class Row:
    """A machine of an infrastructure, and what becomes of the Jinja in its node's name and in a file."""

    kind: str
    of_name: str
    reason: str
    name: str = HOST
    label: str = "a=b"
    content: str = "x"
    of_content: str = ""


TABLE = [
    Row("AWSMachine", "fact", "the infrastructure tells its machines the name"),
    Row("HcloudMachine", "extension", "nobody can ask this infrastructure: Jinja as today"),
    Row("Metal3Machine", "fact", "the machine itself knows its name"),
    Row("Metal3Machine", "extension", "metal has no source of an instance id", name=UUID),
    Row("Metal3Machine", "extension", "one file cannot hold a fact and Jinja", label=f"u={UUID}"),
    Row(
        "AWSMachine",
        "extension",
        "neither can a file of the user",
        content=f"{HOST} {OTHER}",
        of_content="extension extension",
    ),
    Row("AWSMachine", "fact", "two files can", content=OTHER, of_content="extension"),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.reason)
def test_jinja_becomes_a_fact_only_where_the_file_can_still_be_made(row: Row) -> None:
    """A fact in place of Jinja must never take a config away from the format that it was written for."""
    text = dedent(CONFIG).format(kind=row.kind, name=row.name, label=row.label, content=row.content)
    (machine,) = read_manifests({"f.yaml": text}).machines
    kinds = [str(segment.WhichOneof("value")) for segment in machine.spec.kubernetes.node.name.segments]
    assert kinds == [row.of_name]
    assert _kinds(machine.spec) == row.of_content.split()


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


def test_a_config_by_itself_stays_jinja_where_facts_would_stand_beside_it() -> None:
    """No other format could render it either; without the Jinja that only cloud-init knows, facts suit each format."""
    node = "{{name: '{{{{ ds.meta_data.local_hostname }}}}', criSocket: {socket}}}"
    init = f"initConfiguration: {{{{nodeRegistration: {node}}}}}"
    both = carried(init.format(socket="'unix:///run/{{ v1.cloud_name | lower }}.sock'"))
    alone = carried(init.format(socket="'unix:///run/containerd/containerd.sock'"))
    kinds = [
        [str(segment.WhichOneof("value")) for segment in result.spec.init.kubernetes.node.name.segments]
        for result in (both, alone)
    ]
    assert kinds == [["extension"], ["fact"]]
