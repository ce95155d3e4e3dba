"""With placeholders for all variables, the type of a field decides what stands there, not only a variable's name."""

import pytest

from slipway.bootstrapper.documents.document_set import read_document_set
from slipway.contract.source_position import SourceError

HEAD = """apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {name: c}
spec: {controlPlaneEndpoint: {host: api.example.com, port: 6443}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: cp, labels: {cluster.x-k8s.io/cluster-name: c}}
spec:
  version: v1.34.1
"""
SPEC = "  kubeadmConfigSpec:\n    "
FIELDS = [
    ("  replicas: ${A}", "a whole number"),
    (SPEC + "ntp: {enabled: ${A}}", "a boolean"),
    (SPEC + "verbosity: ${A}", "a number with bounds"),
    (SPEC + "files: [{path: /a, content: b, permissions: ${A}}]", "a mode"),
    (SPEC + "files: [{path: /a, content: b, permissions: '${A}'}]", "a mode in quotes"),
    (SPEC + "files: [{path: /a, content: '${A}', encoding: base64}]", "base64"),
    (SPEC + "files:\n    - path: /a\n      encoding: base64\n      content: |\n        ${A}", "in the next line"),
    (SPEC + "files: [{path: /a, content: '${A}', encoding: gzip+base64}]", "gzip"),
    (SPEC + "joinConfiguration: {nodeRegistration: {taints: [{key: a, effect: ${A}}]}}", "the effect of a taint"),
    (SPEC + "initConfiguration: {bootstrapTokens: [{token: '${A}'}]}", "a token"),
    (SPEC + "initConfiguration: {localAPIEndpoint: {bindPort: ${A}}}", "a port"),
    (SPEC + "diskSetup: {partitions: [{device: /dev/vdb, layout: ${A}}]}", "a boolean of a disk"),
]


@pytest.mark.parametrize(("field", "reason"), FIELDS, ids=[case[1] for case in FIELDS])
def test_a_placeholder_fits_its_field(field: str, reason: str) -> None:
    """A template is not refused for what stands in the place of a value that is not set."""
    document_set = read_document_set({"f.yaml": HEAD + field}, variables={}, set_missing=True)
    assert document_set.questions, reason
    assert any("the variable A is not set" in note.message for note in document_set.notes)


def test_a_value_that_was_given_stays() -> None:
    """Only placeholders give way: a wrong value of a person's is refused."""
    with pytest.raises(SourceError):
        read_document_set({"f.yaml": HEAD + "  replicas: ${A}"}, variables={"A": "x"}, set_missing=True)
    with pytest.raises(SourceError):
        read_document_set({"f.yaml": HEAD + "  replicas: x"}, variables={}, set_missing=True)


def test_a_variable_with_two_uses_keeps_the_first() -> None:
    """No value fits both, so the template is refused, and the search for one ends."""
    text = HEAD + "  replicas: ${A}\n" + SPEC + "ntp: {enabled: ${A}}"
    with pytest.raises(SourceError):
        read_document_set({"f.yaml": text}, variables={}, set_missing=True)


def test_the_schema_of_a_variable_decides() -> None:
    """A ClusterClass says what its variables are."""
    topology = (
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: d}\nspec:\n  topology:\n    class: k\n"
        "    version: v1.34.1\n    variables: [{name: num, value: ${A}}]\n---\n"
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\nmetadata: {name: k}\nspec:\n"
        "  controlPlane:\n"
        "    ref: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlaneTemplate, name: t}\n"
        "  variables: [{name: num, required: true, schema: {openAPIV3Schema: {type: integer, minimum: 3}}}]\n---\n"
        "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlaneTemplate\nmetadata: {name: t}\n"
        "spec: {template: {spec: {kubeadmConfigSpec: {}}}}\n"
    )
    assert read_document_set({"f.yaml": topology}, variables={}, set_missing=True).questions
