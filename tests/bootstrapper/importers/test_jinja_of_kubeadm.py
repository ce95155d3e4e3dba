"""Jinja in what a config says to kubeadm: a fact where a field takes one, else a refusal by the user's own field."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from google.protobuf.message import Message

from slipway.bootstrapper.assembly.subject_rules import rule_violations
from slipway.bootstrapper.importers.kubeadm_import import ImportResult, Surroundings
from slipway.bootstrapper.importers.lone_config import import_kubeadm_config
from slipway.contract.source_position import SourceError, path_text
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.importers.carrying import document, walk
from tests.bootstrapper.importers.every_field import MODELS, Path, config, fields

PARTS = ("clusterConfiguration", "initConfiguration", "joinConfiguration")
FACT = "{{ ds.meta_data.local_hostname }}"
_CLUSTER = clusterpb.Cluster(endpoint=clusterpb.Endpoint(host="api.example.com", port=6443))


def _with_fact(version: str, path: Path) -> dict[str, Any] | None:
    """Give a config whose field of this path is a fact of the machine; None where it takes no text."""
    tree = config(version, path, "cloud-config")
    parent: Any = tree
    for part in path[:-1]:
        parent = parent[part]
    if not isinstance(parent[path[-1]], str):
        return None
    parent[path[-1]] = FACT
    return tree


CASES = [
    pytest.param(version, path, id=f"{version}-{path_text(path)}")
    for version, model in MODELS.items()
    for path in fields(model)
    if path[0] in PARTS and path[-1] != "timeAdded" and _with_fact(version, path)
]


def _imported(text: str, **known: Any) -> ImportResult | SourceError:
    try:
        return import_kubeadm_config(text, Surroundings(**known), file="f.yaml")
    except SourceError as error:
        return error


def _plain_texts(message: Message) -> Iterator[str]:
    """Give the texts of a spec that no template renders."""
    for each in walk(message):
        if each.DESCRIPTOR.name == "ExtensionText":
            continue
        for field, value in each.ListFields():
            if field.type == field.TYPE_STRING:
                yield from value if field.is_repeated else [value]


@pytest.mark.parametrize("whole", [False, True], ids=["lone", "whole"])
@pytest.mark.parametrize(("version", "path"), CASES)
def test_jinja_of_every_field_is_a_fact_or_is_refused_by_that_field(version: str, path: Path, whole: bool) -> None:
    """No text of kubeadm's file keeps Jinja that is not rendered; no rule is broken of an item it lacks."""
    text = document(yaml.safe_dump(_with_fact(version, path)), version=version)
    target = clusterpb.Target(os_family=clusterpb.OS_FAMILY_LINUX) if whole else clusterpb.Target()
    result = _imported(text, whole=whole, target=target, cluster=_CLUSTER)
    if isinstance(result, SourceError):
        written = path_text(("spec", *path))
        assert result.problems
        assert {problem.path for problem in result.problems} <= {written, written.rpartition(".")[0]}
        assert all(problem.message for problem in result.problems)
    else:
        assert rule_violations(result.spec) == []
        assert [text for text in _plain_texts(result.spec) if "{{" in text] == []


PLAIN = "{{ 'a' }}"
CONSTANTS = [
    'joinConfiguration: {nodeRegistration: {taints: [{key: "%s", value: "%s", effect: NoSchedule}]}}',
    'joinConfiguration: {nodeRegistration: {ignorePreflightErrors: ["%s"]}}',
    'joinConfiguration: {skipPhases: ["%s"]}',
    'clusterConfiguration: {featureGates: {"%s": true}}',
    'clusterConfiguration: {apiServer: {certSANs: ["%s"]}}',
    'clusterConfiguration: {controlPlaneEndpoint: "%s:6443"}',
]


@pytest.mark.parametrize("spec", CONSTANTS)
def test_jinja_that_is_a_constant_means_its_text(spec: str) -> None:
    """As cloud-init renders it today."""
    jinja, plain = (_imported(document(spec.replace("%s", text))) for text in (PLAIN, "a"))
    assert isinstance(jinja, ImportResult)
    assert isinstance(plain, ImportResult)
    assert (jinja.spec, jinja.cluster) == (plain.spec, plain.cluster)


def test_an_endpoint_that_kubeadm_never_reads_refuses_no_worker() -> None:
    """Only a control plane has it in its file."""
    text = document(f"clusterConfiguration: {{controlPlaneEndpoint: '{FACT}:6443'}}")
    result = _imported(text, role=clusterpb.ROLE_WORKER)
    assert isinstance(result, ImportResult)
    assert not result.cluster.HasField("endpoint")


def test_a_wrong_endpoint_hides_no_other_problem() -> None:
    """All that is wrong is reported at once."""
    text = document(CONSTANTS[-1] % "https://a" + "\n" + "joinConfiguration: {skipPhases: ['%s']}".replace("%s", FACT))
    result = _imported(text)
    assert isinstance(result, SourceError)
    assert [problem.path.rpartition(".")[2] for problem in result.problems] == ["skipPhases[0]", "controlPlaneEndpoint"]
