"""Changes of a bundle: fields that get other values, many at once, each known by its path.

What is tried in one render with many others costs next to nothing. An answer that names a field, or a comparison that
does, shows which of them it was.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import is_item
from slipway.v1alpha1 import bundle_pb2 as bundlepb

REFERENCES = frozenset({"owner", "group", "groups", "primary_group"})
"""Fields that hold the name of an account of the same bundle."""

_PART = re.compile(r"([a-z0-9_]+)(?:\[([0-9]+)\])?")


@dataclass(frozen=True, slots=True)
class Change:
    """Another value of one field.

    Attributes:
        path: the field, as errors name it: "os.users[0].gecos"; of a list of texts the whole, or an entry.
        value: the value; None unsets the field.
    """

    path: str
    value: Any


def changed(bundle: bundlepb.BootstrapBundle, changes: Iterable[Change]) -> bundlepb.BootstrapBundle:
    """Give a copy with all changes; where the name of an account changes, what refers to it does, too."""
    other = bundlepb.BootstrapBundle()
    other.CopyFrom(bundle)
    renamed: dict[str, str] = {}
    for change in changes:
        above, _, last = change.path.rpartition(".")
        holder = value_at(other, above)
        name, index = _parted(last)
        if holder is None:
            # Another change has taken away what it was in.
            continue
        if change.value is None:
            holder.ClearField(name)
        elif isinstance(change.value, list):
            del getattr(holder, name)[:]
            getattr(holder, name).extend(change.value)
        elif isinstance(change.value, Message):
            getattr(holder, name).CopyFrom(change.value)
        elif index is not None:
            getattr(holder, name)[index] = change.value
        else:
            if holder.DESCRIPTOR.name in {"User", "Group"} and name == "name":
                renamed[holder.name] = change.value
            setattr(holder, name, change.value)
    if renamed:
        _rename(other, renamed)
    return other


def value_at(message: Message, path: str) -> Any:
    """Give what stands at a path; None where the path leads nowhere."""
    here: Any = message
    for part in path.split(".") if path else ():
        name, index = _parted(part)
        if not isinstance(here, Message) or name not in here.DESCRIPTOR.fields_by_name:
            return None
        here = getattr(here, name)
        if index is not None:
            if index >= len(here):
                return None
            here = here[index]
    return here


def item_path(message: Message, path: str) -> str:
    """Give the path of the outermost item on a path: "os.users[2]" of "os.users[2].name"; all of it where is none."""
    parts = path.split(".")
    for count in range(1, len(parts) + 1):
        here = value_at(message, ".".join(parts[:count]))
        if isinstance(here, Message) and is_item(here.DESCRIPTOR):
            return ".".join(parts[:count])
    return path


def scalars(
    message: Message, left_out: Sequence[str], path: str = ""
) -> Iterator[tuple[str, Message, FieldDescriptor]]:
    """Give each field with a text, a number or a word that is set in a message, with its path; of lists each entry.

    Args:
        message: the message.
        left_out: full names of messages, names of fields and "Message.field" that are not looked into.
        path: its own path.
    """
    for field, value in message.ListFields():
        if {field.name, f"{message.DESCRIPTOR.name}.{field.name}"} & set(left_out):
            continue
        where = f"{path}.{field.name}" if path else field.name
        places = [(f"{where}[{index}]", entry) for index, entry in enumerate(value)] if field.is_repeated else []
        for place, entry in places or [(where, value)]:
            if field.message_type is None:
                yield place, message, field
            elif field.message_type.full_name not in left_out:
                yield from scalars(entry, left_out, place)


def _parted(part: str) -> tuple[str, int | None]:
    match = _PART.fullmatch(part)
    if match is None:
        return part, None
    return match[1], None if match[2] is None else int(match[2])


def _rename(message: Message, renamed: dict[str, str]) -> None:
    for field, value in message.ListFields():
        if field.message_type is not None:
            for entry in value if field.is_repeated else [value]:
                _rename(entry, renamed)
        elif field.type == FieldDescriptor.TYPE_STRING and field.name in REFERENCES:
            if field.is_repeated:
                value[:] = [renamed.get(text, text) for text in value]
            else:
                setattr(message, field.name, renamed.get(value, value))
