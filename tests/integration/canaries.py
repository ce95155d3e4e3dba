"""Puts canaries into the values of a message, and finds them again wherever they must not be."""

import base64
import binascii
import urllib.parse
from collections.abc import Iterator
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import ORIGIN

Place = tuple[tuple[str, int | None], ...]
"""Fields and indices from the root of a message to one of its values."""


def places(message: Message, above: Place = ()) -> Iterator[Place]:
    """Give the place of every text and every bytes value that is set; origins, which errors are made of, apart."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.full_name == ORIGIN:
            continue
        entries = list(enumerate(value)) if field.is_repeated else [(None, value)]
        for index, entry in entries:
            here = (*above, (field.name, index))
            if field.message_type is not None:
                yield from places(entry, here)
            elif field.cpp_type == FieldDescriptor.CPPTYPE_STRING:
                yield here


def distinct(message: Message) -> list[Place]:
    """Give one place of every field path that is set, whatever the indices."""
    return list({name_of(place): place for place in places(message)}.values())


def name_of(place: Place) -> str:
    """Give the field path of a place, without indices."""
    return ".".join(name for name, _ in place)


def put(message: Any, place: Place, canary: str) -> None:
    """Put a canary in the place of a value."""
    for name, index in place[:-1]:
        message = getattr(message, name)
        message = message if index is None else message[index]
    name, index = place[-1]
    field = message.DESCRIPTOR.fields_by_name[name]
    value: str | bytes = canary.encode() if field.type == FieldDescriptor.TYPE_BYTES else canary
    if index is None:
        setattr(message, name, value)
    else:
        getattr(message, name)[index] = value


def found(canary: str, text: str | bytes) -> bool:
    """Tell whether a canary is in a text, raw or in any of the encodings in which it may have come there."""
    raw = canary.encode()
    haystack = text.encode() if isinstance(text, str) else text
    forms = {raw, binascii.hexlify(raw), urllib.parse.quote(canary, safe="").encode(), repr(canary)[1:-1].encode()}
    for pad in range(3):
        # Neighbours change the first and the last characters of base64.
        whole = base64.b64encode(b"x" * pad + raw)
        forms.add(whole[4 : len(whole) - 4] if pad else whole[: len(whole) - 4])
        forms.add(base64.urlsafe_b64encode(b"x" * pad + raw)[4:-4] if pad else whole[: len(whole) - 4])
    lowered = haystack.lower()
    return any(form in haystack or form.lower() in lowered for form in forms if form)
