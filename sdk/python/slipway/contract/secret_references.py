"""Where a message refers to secrets, and how much text they become in its places."""

from collections.abc import Iterator
from typing import TypeVar

from google.protobuf.message import Message

from slipway.contract.field_plans import holders_of, plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb

M = TypeVar("M", bound=Message)

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
    holders = holders_of(message.DESCRIPTOR, kind.DESCRIPTOR.full_name)
    for descriptor, value in message.ListFields():
        if descriptor.number not in holders:
            continue
        field = plan(message.DESCRIPTOR)[descriptor.number]
        where = f"{path}.{field.name}" if path else field.name
        for index, entry in enumerate(value if field.repeated else [value]):
            here = f"{where}[{index}]" if field.repeated else where
            if isinstance(entry, kind):
                yield here, entry
            elif not isinstance(entry, secretpb.SecretMaterial):
                yield from messages_of(entry, kind, here)


def referenced_bytes(bundle: bundlepb.BootstrapBundle) -> int:
    """Give the bytes of a bundle's secrets, each counted wherever it is referred to."""
    sizes = {(secret.name, secret.key): len(secret.value) for secret in bundle.secrets.secrets}
    return sum(sizes.get((reference.name, reference.key), 0) for _, reference in references(bundle))
