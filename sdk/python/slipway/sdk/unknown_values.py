"""Finds values of enums that this version of the contract does not know.

protobuf keeps them as numbers, and whoever compares with the values that he knows takes them for "something else": a
machine would boot with a guess. A value that has no name has no feature either, so `required_features` cannot tell.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from slipway.v1alpha1 import bundle_pb2 as bundlepb

_PARTS = ("os", "commands", "plan", "intent", "engine_options", "extensions")
"""What is rendered; the other parts of a bundle are facts that a provisioner may do without."""


@dataclass(frozen=True, slots=True)
class _Watched:
    """A field with an enum, whose `known` values are these, or with one below it, where `known` is None."""

    name: str
    repeated: bool
    known: Collection[int] | None


def unknown_values(bundle: bundlepb.BootstrapBundle) -> list[str]:
    """Give the paths of values that have no name, in what is rendered of a bundle."""
    paths: list[str] = []
    _collect(bundle, _watched(bundle.DESCRIPTOR, only=_PARTS), "", paths)
    return paths


def _collect(message: Message, watched: Mapping[int, _Watched], above: str, paths: list[str]) -> None:
    for descriptor, value in message.ListFields():
        field = watched.get(descriptor.number)
        if field is None:
            continue
        if field.known is not None:
            if any(number not in field.known for number in (value if field.repeated else (value,))):
                paths.append(f"{above}{field.name}")
        elif field.repeated:
            for index, entry in enumerate(value):
                _collect(entry, _watched(entry.DESCRIPTOR), f"{above}{field.name}[{index}].", paths)
        else:
            _collect(value, _watched(value.DESCRIPTOR), f"{above}{field.name}.", paths)


@cache
def _watched(descriptor: Descriptor, *, only: tuple[str, ...] = ()) -> Mapping[int, _Watched]:
    """Compile which fields of a message type are to be looked at, by number; of all or ``only`` of these names."""
    return {
        field.number: _Watched(
            field.name, field.is_repeated, None if field.enum_type is None else field.enum_type.values_by_number
        )
        for field in descriptor.fields
        if (not only or field.name in only)
        and (field.enum_type is not None or (field.message_type is not None and _has_enums(field.message_type)))
    }


@cache
def _has_enums(descriptor: Descriptor, above: frozenset[str] = frozenset()) -> bool:
    """Whether there is an enum in a message, at any depth; most have none and need no walk."""
    return any(
        field.enum_type is not None
        or (
            field.message_type is not None
            and field.message_type.full_name not in above
            and _has_enums(field.message_type, above | {descriptor.full_name})
        )
        for field in descriptor.fields
    )
