"""Values against the schemas of a ClusterClass's variables, as core checks them before it makes anything of a Cluster.

Core knows a part of the OpenAPI schema of CRDs (JSONSchemaProps of its API). Expressions of CEL
(x-kubernetes-validations) are left to it, and so are formats that it has no check for. Source: Cluster API v1.12.5,
internal/topology/variables/cluster_variable_validation.go and schema.go; kube-openapi, pkg/validation/validate.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import re2

from slipway.contract.source_position import FieldPath

Mistake = tuple[FieldPath, str, str]
"""The path, what is wrong there, and a value that would do, or ""; the message repeats no value."""

_Found = tuple[FieldPath, str, Mapping[str, Any]]

_DEEPEST = 64
_PLACEHOLDER = "placeholder"
_FORM: Mapping[str, Any] = {}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and float(value).is_integer(),
    "number": _is_number,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def mistakes(value: Any, schema: Any, path: FieldPath, *, set_missing: bool = False) -> Iterator[Mistake]:
    """Give everything in which a value breaks a schema; what is no schema holds for nothing.

    Args:
        value: the value.
        schema: its schema.
        path: its path.
        set_missing: a text may be a placeholder, which has no form.
    """
    for place, message, part in _mistakes(value, schema, path):
        if not (set_missing and part is _FORM):
            yield place, message, _sample(part)


def _sample(schema: Mapping[str, Any]) -> str:
    """Give a value that fits a schema as far as its type goes, as JSON; "" where any text does."""
    choices, kind = schema.get("enum"), schema.get("type")
    if schema.get("default") is not None:
        return json.dumps(schema["default"])
    if isinstance(choices, list) and choices:
        return json.dumps(choices[0])
    if kind in {"integer", "number"} or schema.get("x-kubernetes-int-or-string"):
        least = _limit(schema, "minimum")
        return f"{max(1, least or 1):g}"
    return {"boolean": "false", "array": "[]", "object": "{}"}.get(str(kind), "")


def _mistakes(value: Any, schema: Any, path: FieldPath) -> Iterator[_Found]:
    """Give mistakes, each with the schema that is broken; _FORM where it is the form of what may be a placeholder."""
    if not isinstance(schema, dict) or len(path) > _DEEPEST or (value is None and schema.get("nullable")):
        return
    if schema.get("x-kubernetes-int-or-string"):
        if not (_TYPES["string"](value) or _TYPES["integer"](value)):
            yield path, "must be a whole number or text", schema
            return
    elif schema.get("type") in _TYPES and not _TYPES[schema["type"]](value):
        yield path, f"must be of type {schema['type']}", schema
        return
    choices = schema.get("enum")
    if isinstance(choices, list) and choices and not any(_is_same(value, each) for each in choices):
        yield path, "must be one of the values of its schema's enum", schema
    if isinstance(value, str):
        form = _FORM if _PLACEHOLDER in value else schema
        yield from ((path, message, form) for message in _of_text(value, schema))
    elif isinstance(value, list):
        yield from _of_list(value, schema, path)
    elif isinstance(value, dict):
        yield from _of_object(value, schema, path)
    elif _is_number(value):
        yield from ((path, message, schema) for message in _of_number(value, schema))
    yield from _of_several(value, schema, path)


def _is_same(value: Any, other: Any) -> bool:
    return isinstance(value, bool) == isinstance(other, bool) and bool(value == other)


def _limit(schema: Mapping[str, Any], name: str) -> float | None:
    limit = schema.get(name)
    return limit if _is_number(limit) else None


def _counted(count: int, schema: Mapping[str, Any], names: tuple[str, str], what: str) -> Iterator[str]:
    least, most = (_limit(schema, name) for name in names)
    if least is not None and count < least:
        yield f"must have at least {least:g} {what}"
    if most is not None and count > most:
        yield f"must have at most {most:g} {what}"


def _of_text(value: str, schema: Mapping[str, Any]) -> Iterator[str]:
    yield from _counted(len(value), schema, ("minLength", "maxLength"), "characters")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and pattern:
        try:
            fits = re2.search(pattern, value) is not None
        except re2.error:
            return  # The API server refuses such a class; it says nothing of the value.
        if not fits:
            yield f"must match the pattern {pattern}"


def _of_number(value: float, schema: Mapping[str, Any]) -> Iterator[str]:
    least, most, step = (_limit(schema, name) for name in ("minimum", "maximum", "multipleOf"))
    if least is not None and (value < least or (value == least and schema.get("exclusiveMinimum") is True)):
        yield f"must be {'more than' if schema.get('exclusiveMinimum') is True else 'at least'} {least:g}"
    if most is not None and (value > most or (value == most and schema.get("exclusiveMaximum") is True)):
        yield f"must be {'less than' if schema.get('exclusiveMaximum') is True else 'at most'} {most:g}"
    if step and not math.isclose(value / step, round(value / step)):
        yield f"must be a multiple of {step:g}"


def _of_list(value: list[Any], schema: Mapping[str, Any], path: FieldPath) -> Iterator[_Found]:
    limits = ("minItems", "maxItems")
    yield from ((path, message, schema) for message in _counted(len(value), schema, limits, "entries"))
    if schema.get("uniqueItems") is True and len({json.dumps(item, sort_keys=True) for item in value}) < len(value):
        yield path, "must not have the same entry twice", schema
    for index, item in enumerate(value):
        yield from _mistakes(item, schema.get("items"), (*path, index))


def _of_object(value: dict[str, Any], schema: Mapping[str, Any], path: FieldPath) -> Iterator[_Found]:
    properties, further = schema.get("properties") or {}, schema.get("additionalProperties")
    limits = ("minProperties", "maxProperties")
    yield from ((path, message, schema) for message in _counted(len(value), schema, limits, "fields"))
    for name in schema.get("required") or []:
        if name not in value:
            yield (*path, name), "is required by the schema of the variable", {}
    kept = schema.get("x-kubernetes-preserve-unknown-fields") is True
    for name, item in value.items():
        if name in properties:
            yield from _mistakes(item, properties[name], (*path, name))
        elif isinstance(further, dict):
            yield from _mistakes(item, further, (*path, name))
        elif not kept and further is not True and schema.get("type") == "object":
            yield (*path, name), "the schema of the variable has no such field", {}


def _of_several(value: Any, schema: Mapping[str, Any], path: FieldPath) -> Iterator[_Found]:
    for each in schema.get("allOf") or []:
        yield from _mistakes(value, each, path)
    for name, fewest, most in (("anyOf", 1, math.inf), ("oneOf", 1, 1)):
        choices = schema.get(name) or []
        if choices and not fewest <= sum(not any(_mistakes(value, each, path)) for each in choices) <= most:
            yield path, f"must fit {'one' if name == 'anyOf' else 'exactly one'} of the schemas of {name}", schema
    if isinstance(schema.get("not"), dict) and not any(_mistakes(value, schema["not"], path)):
        yield path, "must not fit the schema of not", schema
