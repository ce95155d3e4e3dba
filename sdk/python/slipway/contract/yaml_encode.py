"""Write a message of the contract as a document for people: the reverse of yaml_decode."""

import base64
from collections.abc import Sequence
from typing import Any

import yaml
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.control_characters import has_controls
from slipway.contract.field_plans import plan
from slipway.contract.go_duration import format_duration
from slipway.contract.yaml_names import enum_names, fields_by_key
from slipway.contract.yaml_scalars import plain_value


def encode(message: Message) -> dict[str, Any]:
    """Give the plain tree of a message; what a person cannot write (origins, internal fields) is left out."""
    keys = {field.name: key for key, field in fields_by_key(message.DESCRIPTOR).items()}
    tree: dict[str, Any] = {}
    for field, value in message.ListFields():
        key = keys.get(field.name)
        if key is None:
            continue
        tree[key] = [_value(field, entry) for entry in value] if field.is_repeated else _value(field, value)
    return tree


def dump(*documents: Any) -> str:
    """Write plain trees as YAML documents: literal blocks for text of several lines, keys in their order.

    Nothing in the text does anything to a terminal: where a value has such characters, all others than ASCII are
    escaped.
    """
    text = _dump(documents, allow_unicode=True)
    return _dump(documents, allow_unicode=False) if has_controls(text) else text


def _dump(documents: Sequence[Any], *, allow_unicode: bool) -> str:
    return yaml.dump_all(
        documents, Dumper=_Dumper, sort_keys=False, allow_unicode=allow_unicode, width=110, default_flow_style=False
    )


def _value(field: FieldDescriptor, value: Any) -> Any:  # one return for each kind of value
    if isinstance(value, Message):
        name = value.DESCRIPTOR.full_name
        if name == "google.protobuf.Duration":
            return format_duration(value)  # type: ignore[arg-type]  # its name says what it is
        if name == "google.protobuf.Timestamp":
            return value.ToJsonString()  # type: ignore[attr-defined]  # its name says what it is
        return encode(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if field.enum_type is not None:
        return enum_names(field.enum_type).get(value, "Unspecified")
    if plan(field.containing_type)[field.number].rules.format == "file-mode":
        return f"{value:04o}"
    return value


class _Dumper(yaml.SafeDumper):
    """A dumper that people like to read."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  # the signature of the class above
        super().increase_indent(flow, False)

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  # the signature of the class above
        return True


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    # A literal block cannot hold every text; PyYAML falls back to quotes by itself where it cannot.
    style = "|" if "\n" in value.strip("\n") or value.endswith("\n") else None
    if any(char in value for char in "\x85\u2028\u2029"):
        # They are line breaks to YAML, which are kept only where they are escaped.
        style = '"'
    elif style is None and not isinstance(plain_value(value), str):
        # Go's YAML, which Kubernetes reads with, takes words and numbers for no text that PyYAML would write plain.
        style = "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
