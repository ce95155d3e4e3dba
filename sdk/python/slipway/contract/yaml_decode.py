"""Read a message of the contract from a document that a person wrote.

The one codec for CLI, custom resources and documentation, driven by the descriptors: there is no second list of keys.
Every problem is found in one pass and reported with file, line, column and field path, never with a value.
"""

import base64
import binascii
from typing import Any, TypeVar

from google.protobuf import timestamp_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import is_item, plan
from slipway.contract.go_duration import parse_duration
from slipway.contract.grammars import grammars
from slipway.contract.items import origin_of
from slipway.contract.redaction import NO_VALUE, is_left_out
from slipway.contract.source_position import (
    FieldPath,
    SourceError,
    did_you_mean,
    path_text,
    unknown_field,
)
from slipway.contract.yaml_document import Source
from slipway.contract.yaml_names import enum_names, fields_by_key, former_keys

M = TypeVar("M", bound=Message)

_INT_TYPES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_FORMER = "unknown field: an earlier version had it, and the changelog says what has taken its place"
_PLAIN = ("text", "value")
"""Keys of what most people mean by a mapping that is one value: a content, a text of a machine, a secret."""

_KINDS = {
    dict: "a mapping",
    list: "a list",
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def decode(tree: Any, into: M, *, source: Source, path: FieldPath = (), document: str = "") -> M:
    """Fill the message `into` from a plain tree and give it.

    Args:
        tree: the tree, as yaml_source loads it.
        into: an empty message.
        source: where the tree's fields stand.
        path: where the tree stands in its document.
        document: "Kind/name", for the origin of every item; without it no origin is set.

    Raises:
        SourceError: everything that is wrong with keys, types and spellings.
    """
    wrong = fill(tree, into, path=path, document=document)
    if wrong:
        raise SourceError(source.problem(where, message) for where, message in wrong)
    return into


def fill(tree: Any, into: Message, *, path: FieldPath = (), document: str = "") -> list[tuple[FieldPath, str]]:
    """Fill the message `into` from a plain tree as far as can be, and give what is wrong, as path and message.

    A caller that goes on to check it leaves out what only follows from that: fields that are wrong stay unset, and
    entries of a list that are no entries are not in it, so that later ones stand at other numbers.

    Args:
        tree: the tree, as yaml_source loads it.
        into: an empty message.
        path: where the tree stands in its document.
        document: "Kind/name", for the origin of every item; without it no origin is set.
    """
    decoder = _Decoder(document)
    decoder.message(tree, into, path)
    return decoder.problems


class _Decoder:
    """Collects problems while it fills messages."""

    def __init__(self, document: str) -> None:
        self.document = document
        self.problems: list[tuple[FieldPath, str]] = []

    def wrong(self, path: FieldPath, message: str) -> None:
        self.problems.append((path, message))

    def message(self, tree: Any, into: Message, path: FieldPath) -> None:
        if not isinstance(tree, dict):
            self.wrong(path, f"must be a mapping, not {_kind(tree)}{_in_full(tree, into, path)}")
            return
        if self.document and is_item(into.DESCRIPTOR):
            origin = origin_of(into)
            origin.document, origin.path = self.document, path_text(path)
        keys = fields_by_key(into.DESCRIPTOR)
        oneofs: dict[str, str] = {}
        for key, value in tree.items():
            where = (*path, key)
            field = keys.get(key)
            if field is None:
                self.wrong(where, _FORMER if key in former_keys(into.DESCRIPTOR) else unknown_field(key, keys))
                continue
            if value is None:
                continue
            group = field.containing_oneof
            if group is not None and not _is_optional(field):
                if group.name in oneofs:
                    self.wrong(where, f"cannot be set together with {oneofs[group.name]}")
                    continue
                oneofs[group.name] = key
            self.field(value, field, into, where)

    def field(self, value: Any, field: FieldDescriptor, into: Message, path: FieldPath) -> None:
        if is_left_out(value):
            self.wrong(path, NO_VALUE)
        elif not field.is_repeated:
            self.single(value, field, into, path)
        elif not isinstance(value, list):
            self.wrong(path, f"must be a list, not {_kind(value)}")
        else:
            for index, entry in enumerate(value):
                self.entry(entry, field, getattr(into, field.name), (*path, index))

    def single(self, value: Any, field: FieldDescriptor, into: Message, path: FieldPath) -> None:
        if field.message_type is None:
            scalar = self.scalar(value, field, path)
            if scalar is not None:
                setattr(into, field.name, scalar)
            return
        target = getattr(into, field.name)
        target.SetInParent()
        self.any_message(value, target, path)

    def entry(self, value: Any, field: FieldDescriptor, container: Any, path: FieldPath) -> None:
        if value is None:
            self.wrong(path, "must not be empty")
        elif is_left_out(value):
            self.wrong(path, NO_VALUE)
        elif field.message_type is not None:
            self.any_message(value, container.add(), path)
        else:
            scalar = self.scalar(value, field, path)
            if scalar is not None:
                container.append(scalar)

    def any_message(self, value: Any, target: Message, path: FieldPath) -> None:
        name = target.DESCRIPTOR.full_name
        if name not in {"google.protobuf.Duration", "google.protobuf.Timestamp"}:
            self.message(value, target, path)
        elif not isinstance(value, str):
            self.wrong(path, f"must be text, not {_kind(value)}")
        elif name == "google.protobuf.Duration":
            try:
                target.CopyFrom(parse_duration(value))
            except ValueError as error:
                self.wrong(path, str(error))
        else:
            stamp = timestamp_pb2.Timestamp()
            try:
                stamp.FromJsonString(value)
            except ValueError:
                self.wrong(path, "must be a time such as 2026-01-31T12:00:00Z")
            else:
                target.CopyFrom(stamp)

    def scalar(self, value: Any, field: FieldDescriptor, path: FieldPath) -> Any:
        if field.enum_type is not None:
            return self.enum(value, field, path)
        if plan(field.containing_type)[field.number].rules.format == "file-mode":
            return self.mode(value, path)
        kind = field.cpp_type
        if kind == FieldDescriptor.CPPTYPE_BOOL:
            if isinstance(value, bool):
                return value
            self.mismatch(path, "true or false", value)
            return None
        if kind == FieldDescriptor.CPPTYPE_STRING:
            if not isinstance(value, str):
                self.mismatch(path, "text (put it in quotes)", value)
                return None
            return self.bytes(value, path) if field.type == FieldDescriptor.TYPE_BYTES else self.text(value, path)
        if not isinstance(value, int) or isinstance(value, bool):
            self.mismatch(path, "a whole number", value)
            return None
        low, high = _INT_TYPES[kind]
        if not low <= value <= high:
            self.wrong(path, f"must be from {low} to {high}")
            return None
        return value

    def text(self, value: str, path: FieldPath) -> str | None:
        try:
            value.encode()
        except UnicodeEncodeError:
            self.wrong(path, "holds half a character (a lone surrogate)")
            return None
        return value

    def bytes(self, value: str, path: FieldPath) -> bytes | None:
        try:
            return base64.b64decode("".join(value.split()), validate=True)
        except (binascii.Error, ValueError):
            self.wrong(path, "must be base64")
            return None

    def enum(self, value: Any, field: FieldDescriptor, path: FieldPath) -> Any:
        names = {name: number for number, name in enum_names(field.enum_type).items()}
        if not isinstance(value, str):
            self.mismatch(path, f"one of {', '.join(names)}", value)
            return None
        if value not in names:
            meant = did_you_mean(value, names)
            self.wrong(path, f"must be one of {', '.join(names)}" + (f"; did you mean {meant}?" if meant else ""))
            return None
        return names[value]

    def mode(self, value: Any, path: FieldPath) -> int | None:
        if not isinstance(value, str) or not grammars()["file-mode"].check(value):
            self.wrong(path, f"must be {grammars()['file-mode'].description}, in quotes")
            return None
        return int(value.removeprefix("0o"), 8)

    def mismatch(self, path: FieldPath, wanted: str, value: Any) -> None:
        self.wrong(path, f"must be {wanted}, not {_kind(value)}")


def _is_optional(field: FieldDescriptor) -> bool:
    """Return whether the field's oneof is only how proto3 writes `optional`."""
    group = field.containing_oneof
    return group is not None and len(group.fields) == 1 and group.name == f"_{field.name}"


def _in_full(value: Any, message: Message, path: FieldPath) -> str:
    """Say how a value is written where its mapping was left out; "" where it cannot be one."""
    keys = fields_by_key(message.DESCRIPTOR)
    key = next((entry for entry in _PLAIN if entry in keys), "")
    required = any(plan(field.containing_type)[field.number].rules.required for field in keys.values())
    if not key or required or isinstance(value, list) or value is None:
        return ""
    name = path[-1] if path else ""
    form = f"{{{key}: ...}}"
    return f": write {name}: {form}" if isinstance(name, str) and name else f": write {form}"


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "nothing")
