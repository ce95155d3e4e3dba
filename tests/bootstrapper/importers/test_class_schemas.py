"""Values of variables against the schemas of their ClusterClass, as core checks them."""

from typing import Any

import pytest

from slipway.bootstrapper.importers.cluster_api.class_schemas import mistakes
from tests.bootstrapper.importers.class_documents import CONTROL_PLANE, patch, problem
from tests.bootstrapper.importers.test_class_patches import add_file, given

OBJECT = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": "integer"}, "m": {"type": "object", "additionalProperties": {"type": "boolean"}}},
}
CASES: list[tuple[dict[str, Any], Any, list[str], str]] = [
    ({"type": "string"}, 3, ["v"], "a type"),
    ({"type": "integer"}, True, ["v"], "true is no number"),
    ({"type": "integer"}, 2.0, [], "JSON has one kind of number"),
    ({"type": "integer"}, 2.5, ["v"], "no whole one"),
    ({"type": "boolean"}, "true", ["v"], "text is no boolean"),
    ({"type": "string", "enum": ["a", "b"]}, "c", ["v"], "enum"),
    ({"type": "string", "pattern": "^a"}, "ba", ["v"], "pattern"),
    ({"type": "string", "pattern": "a"}, "bab", [], "a pattern is looked for anywhere"),
    ({"type": "string", "minLength": 2, "maxLength": 3}, "a", ["v"], "too short"),
    ({"type": "string", "minLength": 2, "maxLength": 3}, "aaaa", ["v"], "too long"),
    ({"type": "integer", "minimum": 2, "maximum": 4}, 1, ["v"], "minimum"),
    ({"type": "integer", "minimum": 2, "exclusiveMinimum": True}, 2, ["v"], "more than the minimum"),
    ({"type": "integer", "minimum": 2, "maximum": 4}, 5, ["v"], "maximum"),
    ({"type": "array", "items": {"type": "string"}, "maxItems": 1}, ["a", 1], ["v", "v.1"], "items"),
    ({"type": "array", "uniqueItems": True}, [1, 1], ["v"], "unique"),
    (OBJECT, {}, ["v.a"], "a required field"),
    (OBJECT, {"a": 1, "b": 2}, ["v.b"], "an unknown field"),
    (OBJECT | {"x-kubernetes-preserve-unknown-fields": True}, {"a": 1, "b": 2}, [], "unless they are kept"),
    (OBJECT, {"a": "x", "m": {"k": 1}}, ["v.a", "v.m.k"], "inner fields"),
    ({"x-kubernetes-int-or-string": True}, "1", [], "text or number"),
    ({"x-kubernetes-int-or-string": True}, [], ["v"], "nothing else"),
    ({"type": "string", "nullable": True}, None, [], "null"),
    ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, True, ["v"], "none of several"),
    ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, ["v"], "two of one"),
    ({"not": {"enum": ["a"]}}, "a", ["v"], "not"),
    ({}, {"anything": 1}, [], "no schema"),
]


@pytest.mark.parametrize(("schema", "value", "wanted", "reason"), CASES, ids=[case[3] for case in CASES])
def test_a_value_fits_its_schema(schema: dict[str, Any], value: object, wanted: list[str], reason: str) -> None:
    """The path of each mistake is that of the part that is wrong, and no message repeats a value."""
    broken = list(mistakes(value, schema, ("v",)))
    assert [".".join(map(str, path)) for path, _, _ in broken] == wanted, reason


def test_a_placeholder_has_no_form() -> None:
    """A pattern says nothing of a text that only stands for one; a type does, and says what else would do."""
    schema = {"type": "string", "pattern": "^a$"}
    assert list(mistakes("placeholder-x", schema, (), set_missing=True)) == []
    broken = list(mistakes("placeholder-x", {"type": "integer", "minimum": 3}, (), set_missing=True))
    assert [sample for _, _, sample in broken] == ["3"]


@pytest.mark.parametrize("patches", [[], [patch(CONTROL_PLANE, add_file("a"))]], ids=["no patches", "patches"])
def test_the_field_of_the_cluster_is_named(patches: list[Any]) -> None:
    """Also where the class patches nothing: the API server refuses the Cluster all the same."""
    definitions = [{"name": "text", "schema": {"openAPIV3Schema": {"type": "string", "maxLength": 2}}}]
    for value in ("3", "abc"):
        message = problem(patches, definitions, given(f"[{{name: text, value: {value}}}]"))
        assert message.partition(":")[0] == "spec.topology.variables[0].value"
    missing = [{"name": "must", "required": True, "schema": {"openAPIV3Schema": {"type": "string"}}}]
    assert problem(patches, missing).partition(":")[0] == "spec.topology.variables"
