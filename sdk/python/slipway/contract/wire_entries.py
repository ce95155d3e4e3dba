"""Counts what a serialised message holds, before a program makes objects of it.

An empty message costs two bytes on the wire and several hundred in memory, so the bytes of a request bound neither the
memory nor the work that it causes. What is counted is every occurrence of a field at any depth, and each number of a
packed list. Source of the format: protobuf.dev/programming-guides/encoding.
"""

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError

from slipway.contract.errors import BundleInvalid, Violation

MAX_ENTRIES = 100_000
"""Most occurrences of fields in a message: a plan with as many steps as a plan may have takes a third of them."""

_VARINT, _BYTES = 0, 2
_FIXED = {1: 8, 5: 4}
_MORE = 0x80
_NEVER_PACKED = frozenset({FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES})


class _Field(NamedTuple):
    name: str
    repeated: bool
    packed: bool
    message: Descriptor | None


def check_entries(data: bytes, descriptor: Descriptor, *, most: int = MAX_ENTRIES, name: str = "the request") -> None:
    """Check that a serialised message of this type has at most so many entries; the work ends with the first beyond.

    `name` is what errors call the message.

    Raises:
        BundleInvalid: it has more; the violation names the list in which the limit is reached.
        DecodeError: it is not a message.
    """
    if len(data) <= most:
        return
    try:
        where = _beyond(data, descriptor, most)
    except IndexError:
        raise DecodeError("the message is cut off") from None
    if where is not None:
        raise BundleInvalid(
            f"{name} has more than {most} fields and entries of lists",
            violations=[
                Violation(
                    where,
                    f"is where {name} exceeds {most} fields and entries",
                    remedy="send fewer entries: the texts of a file can be one, and a list need not hold empty ones",
                )
            ],
        )


def _beyond(data: bytes, descriptor: Descriptor, most: int) -> str | None:
    """Return the path of the field in which the limit is exceeded; None where it is not."""
    count, at = 0, 0
    frame = _Frame("", len(data), _fields(descriptor))
    above: list[_Frame] = []
    while True:
        if at >= frame.end:
            if at > frame.end:
                raise DecodeError("a field ends beyond its message")
            if not above:
                return None
            frame = above.pop()
            continue
        tag, at = (data[at], at + 1) if data[at] < _MORE else _number(data, at)
        if tag & 7 == _BYTES and data[at] < _MORE:
            start, at = at + 1, at + 1 + data[at]  # Most values are short texts and messages: no call for each of them.
        else:
            start, at = _value(data, at, tag & 7)
        field = frame.fields.get(tag >> 3)
        count += 1 + (at - start if field is not None and field.packed else 0)
        if count > most:
            names = [holder.name for holder in (*above, frame)] + ([field.name] if field is not None else [])
            return ".".join(name for name in names if name)
        if field is not None and field.message is not None and tag & 7 == _BYTES:
            above.append(frame)
            frame = _Frame(frame.place(field), at, _fields(field.message))
            at = start


class _Frame:
    """A message that the count is in: its name in the one above, where it ends, and what is known of its fields."""

    __slots__ = ("_lists", "end", "fields", "name")

    def __init__(self, name: str, end: int, fields: Mapping[int, _Field]) -> None:
        self.name = name
        self.end = end
        self.fields = fields
        self._lists: dict[str, int] = {}

    def place(self, field: _Field) -> str:
        """Name the next message in a field."""
        if not field.repeated:
            return field.name
        index = self._lists[field.name] = self._lists.get(field.name, -1) + 1
        return f"{field.name}[{index}]"


def _value(data: bytes, at: int, kind: int) -> tuple[int, int]:
    """Give where the value of a field begins, behind its length, and where it ends."""
    if kind == _BYTES:
        size, at = _number(data, at)
        return at, at + size
    if kind == _VARINT:
        return at, _number(data, at)[1]
    if kind not in _FIXED:
        raise DecodeError("groups are not of this contract")
    return at, at + _FIXED[kind]


def _number(data: bytes, at: int) -> tuple[int, int]:
    """Read a variable-length number; give it, and where it ends."""
    octet = data[at]
    if octet < _MORE:
        return octet, at + 1
    number, shift = octet & 0x7F, 7
    for place in range(at + 1, at + 10):
        octet = data[place]
        number |= (octet & 0x7F) << shift
        if octet < _MORE:
            return number, place + 1
        shift += 7
    raise DecodeError("a number is too long")


@cache
def _fields(descriptor: Descriptor) -> Mapping[int, _Field]:
    """Compile what the count needs to know of the fields of a message type, by number."""
    return {
        field.number: _Field(
            field.name,
            repeated=field.is_repeated,
            packed=field.is_repeated and field.message_type is None and field.type not in _NEVER_PACKED,
            message=field.message_type,
        )
        for field in descriptor.fields
    }
