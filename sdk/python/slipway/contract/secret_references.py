"""Where a message refers to secrets, and how much text they become in its places."""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple, TypeVar

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import holders_of, plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb

M = TypeVar("M", bound=Message)

_MATERIAL = secretpb.SecretMaterial.DESCRIPTOR.full_name

MAX_REFERENCED_BYTES = 4 * 1024 * 1024
"""What secrets may have in a bundle, each counted wherever it is referred to.

A reference has thirty bytes, and what it refers to up to a megabyte: 4,000 of them made 240 MB of user data of a bundle
of 100 kB. The user data of a machine have one megabyte.
"""


def references(message: Message, path: str = "") -> Iterator[tuple[str, secretpb.SecretReference]]:
    """Give every reference to a secret in `message`, with its field path."""
    return messages_of(message, secretpb.SecretReference, path)


def messages_of(message: Message, kind: type[M], path: str = "") -> Iterator[tuple[str, M]]:
    """Give every message of a kind in `message`, with its field path; what is in SecretMaterial is left out."""
    collected: list[tuple[str, Any]] = []
    _collect(message, kind.DESCRIPTOR.full_name, collected)
    return ((f"{path}.{inner}" if path else inner, entry) for inner, entry in collected)


class _Step(NamedTuple):
    """What the walk needs to know of one field in which a message of the kind can be."""

    name: str
    repeated: bool
    is_kind: bool


@cache
def _steps(descriptor: Descriptor, kind: str) -> dict[int, _Step]:
    """Compile the fields of a message type, by number."""
    fields = plan(descriptor)
    types = {number: fields[number].message for number in holders_of(descriptor, kind)}
    return {
        number: _Step(fields[number].name, fields[number].repeated, type_.full_name == kind)
        for number, type_ in types.items()
        if type_ is not None and (type_.full_name == kind or type_.full_name != _MATERIAL)
    }


def _collect(message: Message, kind: str, into: list[tuple[str, Any]]) -> None:
    """Add the messages of a kind with their paths from here.

    What is found is rare: so a path is made of it on the way back, and of nothing else.
    """
    steps = _steps(message.DESCRIPTOR, kind)
    for descriptor, value in message.ListFields():
        step = steps.get(descriptor.number)
        if step is None:
            continue
        name, repeated, is_kind = step
        for index, entry in enumerate(value) if repeated else ((-1, value),):
            if is_kind:
                into.append((f"{name}[{index}]" if repeated else name, entry))
                continue
            before = len(into)
            _collect(entry, kind, into)
            if len(into) > before:
                place = f"{name}[{index}]" if repeated else name
                into[before:] = [(f"{place}.{inner}", message_of_kind) for inner, message_of_kind in into[before:]]


def referenced_bytes(bundle: bundlepb.BootstrapBundle) -> int:
    """Give the bytes of a bundle's secrets, each counted wherever it is referred to."""
    sizes = {(secret.name, secret.key): len(secret.value) for secret in bundle.secrets.secrets}
    return sum(sizes.get((reference.name, reference.key), 0) for _, reference in references(bundle))
