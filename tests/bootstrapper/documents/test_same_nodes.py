"""Machines of one cluster that would be one node."""

import pytest
import yaml

from slipway.bootstrapper.documents.consistency import inconsistencies
from slipway.bootstrapper.documents.document_set import read_document_set

HOST = {"os": {"hostname": {"name": {"value": "a"}}}}
NODE = {"kubernetes": {"node": {"name": {"value": "a"}}}}
PARTS = {"kubernetes": {"node": {"name": {"segments": [{"text": "a"}]}}}}
FACT = {"kubernetes": {"node": {"name": {"segments": [{"text": "a"}, {"fact": {"kind": "InstanceId"}}]}}}}
OTHER = {"kubernetes": {"node": {"name": {"value": "b"}}}}


def _overridden(**value: object) -> dict[str, object]:
    arguments = [{"name": "v", "value": "2"}, {"name": "hostname-override", **value}]
    return {"kubernetes": {"node": {"name": {"value": "b"}, "kubeletArguments": arguments}}}


OVERRIDE, OVERRIDE_FACT = _overridden(value="A"), _overridden(segments=[{"fact": {"kind": "InstanceId"}}])
OVERRIDE_FIELD = "spec.kubernetes.node.kubelet_arguments[1]"
HOST_FIELD, NODE_FIELD = "spec.os.hostname.name", "spec.kubernetes.node.name"


@pytest.mark.parametrize(
    ("first", "second", "wanted", "reason"),
    [
        (HOST, HOST, [HOST_FIELD], "one host name"),
        (NODE, NODE, [NODE_FIELD], "one node name"),
        (HOST, NODE, [NODE_FIELD], "a node without a name has that of its host"),
        (NODE, PARTS, [NODE_FIELD], "parts that are all text"),
        ({**HOST, **OTHER}, HOST, [], "the name of the node counts, not that of the host"),
        (NODE, OVERRIDE, [OVERRIDE_FIELD], "the kubelet's argument wins"),
        (OVERRIDE, OTHER, [], "over the node's name"),
        (OVERRIDE_FACT, OVERRIDE_FACT, [], "with a name that each machine has of its own"),
        (FACT, FACT, [], "each machine has its own"),
        (NODE, OTHER, [], "two names"),
        ({}, {}, [], "the infrastructure gives names"),
    ],
)
def test_two_machines_are_two_nodes(
    first: dict[str, object], second: dict[str, object], wanted: list[str], reason: str
) -> None:
    """The second would take the place of the first in the cluster."""
    entries = [{"name": name, "role": "Worker", "config": name} for name in ("one", "two")]
    facts = {"kubernetesVersion": "v1.34.2", "endpoint": {"host": "a.example.com"}}
    documents = [
        {"kind": "SlipwayCluster", "metadata": {"name": "c"}, "spec": {"cluster": facts, "machines": entries}},
        {"kind": "SlipwayConfig", "metadata": {"name": "one"}, "spec": first},
        {"kind": "SlipwayConfig", "metadata": {"name": "two"}, "spec": second},
    ]
    text = yaml.safe_dump_all([{"apiVersion": "bootstrap.slipway.dev/v1alpha1", **entry} for entry in documents])
    questions = read_document_set({"c.yaml": text}, variables={}, substitute=False).questions
    assert [(entry.machine.name, entry.field) for entry in inconsistencies(questions)] == [
        ("two", entry) for entry in wanted
    ], reason
    questions[0].replicas = 3
    literal = bool({"hostname", "node"} & {*first.get("os", {}), *first.get("kubernetes", {})}) and first not in (
        FACT,
        OVERRIDE_FACT,
    )
    fields = [entry.field for entry in inconsistencies(questions[:1])]
    assert len(fields) == literal, f"replicas: {reason}"
