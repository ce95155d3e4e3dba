"""From a message type of the contract to a structural OpenAPI schema, by the names of the YAML codec.

Every list and string is bounded, since the API server reckons the cost of a rule by the bounds. Nothing has a default:
defaults are filled in by the bootstrapper, and Cluster API's core rewrites live specs by server-side apply.
"""

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars
from slipway.contract.validation import DEFAULT_MAX_BYTES, DEFAULT_MAX_ITEMS
from slipway.contract.yaml_names import enum_names, fields_by_key
from slipway.v1alpha1 import options_pb2 as optionspb
from slipway.v1alpha1 import spec_pb2 as specpb
from tools.crdgen.rules import exclusive_fields, rules_of
from tools.docgen.descriptors import comment

Schema = dict[str, Any]

_MOST_INSTANCES_WITH_RULES = 4096
"""Above as many possible messages of a kind its rules would cost the API server too much; the bootstrapper checks."""

_LONGEST_TIME = 64
_DURATION = r"^([0-9]+(\.[0-9]+)?(h|ms|us|ns|m|s))+$"
_TIMES: Mapping[str, Schema] = {
    "google.protobuf.Duration": {"type": "string", "maxLength": _LONGEST_TIME, "pattern": _DURATION},
    "google.protobuf.Timestamp": {"type": "string", "maxLength": _LONGEST_TIME, "format": "date-time"},
}
_UNSIGNED = (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64)
_WIDE = (FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64, FieldDescriptor.CPPTYPE_UINT32)
_LENGTH = r"(?=.{1,253}$)"


def message_schema(descriptor: Descriptor, *, instances: int = 1, described: bool = True) -> Schema:
    """Give the schema of a message type.

    Args:
        descriptor: the type.
        instances: how many of it there can be at this place: the product of the lists' bounds above.
        described: with descriptions; what overrides by role is described where it stands first.
    """
    described = described and descriptor.full_name != specpb.RoleOverrides.DESCRIPTOR.full_name
    fields = fields_by_key(descriptor)
    schema: Schema = {
        "type": "object",
        "properties": {key: _field_schema(field, instances, described) for key, field in fields.items()},
    }
    required = [key for key, field in fields.items() if _rules(field).required]
    if required:
        schema["required"] = required
    if instances <= _MOST_INSTANCES_WITH_RULES:
        rules = rules_of(descriptor)
        if rules:
            schema["x-kubernetes-validations"] = rules
    else:
        pairs = exclusive_fields(descriptor)
        if pairs:
            schema["allOf"] = [{"not": {"required": list(pair)}} for pair in pairs]
    return schema


def prose(full_name: str) -> str:
    """Give the comment of an element, each paragraph as one line."""
    return "\n\n".join(block.replace("\n", " ") for block in comment(full_name).split("\n\n"))


def _field_schema(field: FieldDescriptor, instances: int, described: bool) -> Schema:  # noqa: FBT001  # passed through a recursion
    description = {"description": prose(field.full_name)} if described else {}
    rules = _rules(field)
    if not field.is_repeated:
        return {**description, **_single_schema(field, instances, described)}
    most = rules.max_items or DEFAULT_MAX_ITEMS
    schema: Schema = {
        **description,
        "type": "array",
        "maxItems": most,
        "items": _single_schema(field, instances * most, described),
    }
    if rules.required:
        schema["minItems"] = 1
    if rules.unique_by and field.message_type is not None:
        schema["x-kubernetes-list-type"] = "map"
        keys = field.message_type.fields_by_name
        schema["x-kubernetes-list-map-keys"] = [keys[name].json_name for name in rules.unique_by]
    else:
        schema["x-kubernetes-list-type"] = "atomic"
    return schema


def _single_schema(field: FieldDescriptor, instances: int, described: bool) -> Schema:  # noqa: FBT001  # passed through a recursion
    if field.message_type is not None:
        time = _TIMES.get(field.message_type.full_name)
        return dict(time) if time else message_schema(field.message_type, instances=instances, described=described)
    if field.enum_type is not None:
        return {"type": "string", "enum": list(enum_names(field.enum_type).values())}
    rules = _rules(field)
    if rules.format == "file-mode":
        return {"type": "string", "maxLength": len("0o7777"), "pattern": _pattern("file-mode", required=True)}
    if field.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return {"type": "boolean"}
    if field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return _text_schema(field, rules)
    return _number_schema(field, rules)


def _text_schema(field: FieldDescriptor, rules: optionspb.FieldRules) -> Schema:
    most = rules.max_bytes or DEFAULT_MAX_BYTES
    if field.type == FieldDescriptor.TYPE_BYTES:
        # Base64 of so many bytes, and a line break after every 60 characters or more.
        encoded = (most + 2) // 3 * 4
        most = encoded + encoded // 60 + 1
    schema: Schema = {"type": "string", "maxLength": most}
    if rules.required:
        schema["minLength"] = 1
    pattern = _pattern(rules.format, required=rules.required or field.is_repeated) if rules.format else ""
    if pattern:
        schema["pattern"] = pattern
        if grammars()[rules.format].expression.startswith(_LENGTH):
            schema["maxLength"] = min(most, 253)
    return schema


def _number_schema(field: FieldDescriptor, rules: optionspb.FieldRules) -> Schema:
    schema: Schema = {"type": "integer", "format": "int64" if field.cpp_type in _WIDE else "int32"}
    if rules.HasField("minimum"):
        schema["minimum"] = rules.minimum
    elif field.cpp_type in _UNSIGNED:
        schema["minimum"] = 0
    if rules.HasField("maximum"):
        schema["maximum"] = rules.maximum
    elif field.cpp_type == FieldDescriptor.CPPTYPE_UINT32:
        schema["maximum"] = 2**32 - 1
    return schema


def _pattern(name: str, *, required: bool) -> str:
    """Give a grammar as the API server's regular expressions (RE2), or "" where they cannot say it."""
    expression = grammars()[name].expression.removeprefix(_LENGTH)
    if not expression or "(?=" in expression or "(?!" in expression:
        return ""
    return f"^(?:{expression})$" if required else f"^(?:{expression})?$"


def _rules(field: FieldDescriptor) -> optionspb.FieldRules:
    return plan(field.containing_type)[field.number].rules
