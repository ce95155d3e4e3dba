"""Finds values of enums that this version of the contract does not know.

protobuf keeps them as numbers, and whoever compares with the values that he knows takes them for "something else": a
machine would boot with a guess. A value that has no name has no feature either, so `required_features` can not tell.
"""

from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from services.contract.walk import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_PARTS = ("os", "commands", "plan", "intent", "engine_options", "extensions")
"""What is rendered; the other parts of a bundle are facts that a provisioner may do without."""


def unknown_values(bundle: bundlepb.BootstrapBundle) -> Iterator[str]:
    """Give the paths of values that have no name, in what is rendered of a bundle."""
    return _below(bundle, "", only=_PARTS)


def _below(message: Message, above: str, *, only: tuple[str, ...] = ()) -> Iterator[str]:
    plans = plan(message.DESCRIPTOR)
    for field, value in message.ListFields():
        if only and field.name not in only:
            continue
        repeated = plans[field.number].repeated
        if field.enum_type is not None:
            known = field.enum_type.values_by_number
            if any(number not in known for number in (value if repeated else [value])):
                yield f"{above}{field.name}"
        elif field.message_type is not None and _has_enums(field.message_type):
            for index, entry in enumerate(value if repeated else [value]):
                yield from _below(entry, f"{above}{field.name}[{index}]." if repeated else f"{above}{field.name}.")


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
