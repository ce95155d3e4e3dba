"""Requests with one field at an extreme value, by the descriptors: whatever the contract holds is tried."""

from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

_DEPTH = 9
_RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), -1, 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), -1, 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_BOOL: (False, True),
    FieldDescriptor.CPPTYPE_ENUM: (-(2**31), -1, 0, 99, 2**31 - 1),
    FieldDescriptor.CPPTYPE_DOUBLE: (float("nan"), float("inf"), -1e308),
}
_TEXTS = ("", "\x1b[31m\n\x00", "-", "/", "..", "\U0010ffff" * 5, "x" * 70_000)
_TIMES = (
    (10**18, 0),
    (-(10**18), 0),
    (253_402_300_800, 0),
    (4_102_444_800, -5),
    (4_102_444_800, 2 * 10**9),
    (0, -(2**31)),
    (-(2**63), -(2**31)),
    (2**63 - 1, 2**31 - 1),
)

Path = tuple[FieldDescriptor, ...]


def leaves(descriptor: Any, above: Path = ()) -> Iterator[Path]:
    """Give the way to every field without a message below it, and to every time, through each type once a way."""
    for field in descriptor.fields:
        way = (*above, field)
        inner = field.message_type
        if inner is None or inner.full_name in {"google.protobuf.Timestamp", "google.protobuf.Duration"}:
            yield way
        elif len(way) < _DEPTH and all(inner is not step.message_type for step in above):
            yield from leaves(inner, way)


def lists(descriptor: Any, above: Path = ()) -> Iterator[Path]:
    """Give the way to every list of messages, through each type once a way."""
    for field in descriptor.fields:
        inner = field.message_type
        if inner is None or any(inner is step.message_type for step in above):
            continue
        way = (*above, field)
        if field.is_repeated:
            yield way
        if len(way) < _DEPTH:
            yield from lists(inner, way)


def extremes(field: FieldDescriptor) -> Iterator[Any]:
    """Give extreme values of a field: numbers at the ends of their type, texts that no grammar takes, no times."""
    if field.message_type is not None:
        for seconds, nanos in _TIMES:
            yield GetMessageClass(field.message_type)(seconds=seconds, nanos=nanos)
    elif field.type == FieldDescriptor.TYPE_BYTES:
        yield from (b"", b"\xff\xfe", b"x" * 70_000)
    elif field.type == FieldDescriptor.TYPE_STRING:
        yield from _TEXTS
    else:
        yield from _RANGES[field.cpp_type]


def put(message: Message, way: Path, value: Any) -> None:
    """Set a field: messages on the way are made, and of a list the first entry is taken."""
    holder = inner(message, way[:-1])
    field = way[-1]
    if field.is_repeated:
        getattr(holder, field.name).append(value)
    elif field.message_type is not None:
        getattr(holder, field.name).CopyFrom(value)
    else:
        setattr(holder, field.name, value)


def inner(message: Any, way: Path) -> Any:
    """Give the message at a place; what is not there is made."""
    for field in way:
        entry = getattr(message, field.name)
        if field.is_repeated:
            message = entry[0] if entry else entry.add()
        else:
            entry.SetInParent()
            message = entry
    return message


def name_of(way: Path) -> str:
    """Name a way as a field path."""
    return ".".join(field.name for field in way)
