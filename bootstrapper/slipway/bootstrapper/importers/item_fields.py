"""The fields of items by the names that a person writes: whether there are such, and what they hold."""

from collections.abc import Iterator, Sequence
from typing import Any

import re2
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import is_item
from slipway.contract.yaml_names import fields_by_key

_TOKEN = re2.compile(r"([A-Za-z0-9_]+)(\[[0-9]+\])?")

Tokens = Sequence[tuple[str, str]]
"""Names of fields, each inside the one before it, and the index of each in brackets, or ""."""


def items_in(message: Message, path: str) -> Iterator[tuple[str, Any]]:
    """Give every item of a message, also those in others, with their field paths."""
    if is_item(message.DESCRIPTOR):
        yield path, message
    for field, value in message.ListFields():
        place = f"{path}.{field.name}".lstrip(".")
        if field.message_type is None:
            continue
        for index, each in enumerate(value) if field.is_repeated else ((-1, value),):
            yield from items_in(each, place if index < 0 else f"{place}[{index}]")


def field_tokens(path: str, descriptor: Descriptor) -> Tokens:
    """Give the names and indices of a field path; none where a type has no such field."""
    tokens = []
    holder: Descriptor | None = descriptor
    for part in path.split("."):
        match = _TOKEN.fullmatch(part)
        field = fields_by_key(holder).get(match[1]) if match and holder is not None else None
        if match is None or field is None:
            return []
        tokens.append((match[1], match[2] or ""))
        holder = field.message_type
    return tokens


def field_value(message: Any, name: str, index: str) -> Any:
    """Give the value of a field that is set; None where it is not."""
    if not isinstance(message, Message):
        return None
    value = next((value for field, value in message.ListFields() if field.json_name == name), None)
    if value is None or not index:
        return value
    number = int(index[1:-1])
    return value[number] if number < len(value) else None


def entry_name(message: Any, name: str, index: str) -> str:
    """Give the name of an entry of a list of named things; the index of an entry without a name."""
    entry = field_value(message, name, index)
    return str(entry.name) if entry is not None else index
