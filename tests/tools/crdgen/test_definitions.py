"""The custom resource definitions are what the contract says, and keep to what API server and Cluster API ask for."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipway.contract.grammars import grammars
from slipway.contract.yaml_names import fields_by_key
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tools.crdgen import definitions
from tools.crdgen.definitions import config_definition, template_definition
from tools.crdgen.schema import message_schema

ROOT = Path(__file__).resolve().parents[3]
DEFINITIONS = [config_definition(), template_definition()]
IDS = ["config", "template"]


def _nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for key, inner in schema.get("properties", {}).items():
        yield from _nodes(inner, f"{path}.{key}")
    if isinstance(schema.get("items"), dict):
        yield from _nodes(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from _nodes(schema["additionalProperties"], f"{path}{{}}")


def _root(definition: dict[str, Any]) -> dict[str, Any]:
    root: dict[str, Any] = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return root


def test_the_files_are_fresh() -> None:
    """deploy/kubernetes/crd is what the generator writes now (run: make docs)."""
    assert definitions.stale(ROOT) == []


def test_a_changed_file_is_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One changed byte is told, and writing again makes it fresh."""
    texts = definitions.texts()
    monkeypatch.setattr(definitions, "texts", lambda: texts)
    assert set(definitions.write(tmp_path)) == set(texts)
    path = tmp_path / next(iter(texts))
    path.write_text(path.read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert [tmp_path / one for one in definitions.stale(tmp_path)] == [path]


@pytest.mark.parametrize("definition", DEFINITIONS, ids=IDS)
def test_everything_is_bounded_and_nothing_has_a_default(definition: dict[str, Any]) -> None:
    """Each list, map and string has a bound; lists say how they merge; no default is written into live specs."""
    for path, node in _nodes(_root(definition)):
        assert "default" not in node, path
        if path in {".apiVersion", ".kind", ".metadata"}:
            continue
        if node["type"] == "string":
            assert "maxLength" in node or "enum" in node or node.get("format") == "date-time", path
        if node["type"] == "array":
            assert "maxItems" in node, path
            assert node["x-kubernetes-list-type"] in {"atomic", "map"}, path
        if "additionalProperties" in node:
            assert "maxProperties" in node, path


@pytest.mark.parametrize("definition", DEFINITIONS, ids=IDS)
def test_names_and_labels_follow_the_contract_of_cluster_api(definition: dict[str, Any]) -> None:
    """Core finds the definition by the plural of the kind, and reads from its label which fields it has."""
    kind = definition["spec"]["names"]["kind"]
    assert definition["metadata"]["name"] == f"{kind.lower()}s.bootstrap.slipway.dev"
    assert definition["metadata"]["labels"]["cluster.x-k8s.io/v1beta2"] == "v1alpha1"
    assert definition["spec"]["scope"] == "Namespaced"


def test_keys_of_maps_are_required() -> None:
    """The API server takes a keyed list only where every entry has its keys."""
    for path, node in _nodes(_root(config_definition())):
        for key in node.get("x-kubernetes-list-map-keys", ()):
            assert key in node["items"].get("required", ()), path


def test_every_key_of_the_codec_is_there_and_no_other() -> None:
    """What the YAML codec takes is what the API server keeps."""
    schema = message_schema(specpb.MachineBootstrapSpec.DESCRIPTOR)
    assert list(schema["properties"]) == list(fields_by_key(specpb.MachineBootstrapSpec.DESCRIPTOR))
    assert "imported" not in schema["properties"]
    assert "origin" not in schema["properties"]["os"]["properties"]["files"]["items"]["properties"]


def test_rules_give_way_where_there_are_too_many_messages() -> None:
    """Where the cost of a rule would be too high the same is said by the schema itself."""
    few = message_schema(contentpb.Segment.DESCRIPTOR)
    many = message_schema(contentpb.Segment.DESCRIPTOR, instances=1_000_000)
    assert "x-kubernetes-validations" in few
    assert "x-kubernetes-validations" not in many
    assert {"not": {"required": ["text", "data"]}} in many["allOf"]


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("dns-label", "a-1", "A"),
        ("dns-subdomain", "a.b-c", "a..b"),
        ("file-mode", "0644", "0999"),
        ("kubernetes-version", "v1.34.2", "1.34"),
        ("feature-id", "os.files", "Os"),
        ("sha256", "a" * 64, "a" * 63),
    ],
)
def test_patterns_are_those_of_the_grammars(name: str, good: str, bad: str) -> None:
    """A grammar's expression is the whole of its check."""
    grammar = grammars()[name]
    for text, expected in ((good, True), (bad, False)):
        assert grammar.check(text) is expected
        assert bool(re.fullmatch(grammar.expression, text)) is expected


def test_no_pattern_needs_more_than_the_api_server_has() -> None:
    """RE2 knows no look-around: such grammars are left to the bootstrapper, or lose only their bound of length."""
    for path, node in _nodes(_root(config_definition())):
        assert not re.search(r"\(\?[=!<]", node.get("pattern", "")), path
