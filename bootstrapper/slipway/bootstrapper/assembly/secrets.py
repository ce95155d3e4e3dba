"""Collects the secrets of a bundle into its SecretMaterial: all that is referred to, nothing else, in one place."""

from collections.abc import Iterable, Iterator

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.field_index import FieldIndex, item_index
from slipway.contract.errors import SecretMissing, Violation
from slipway.contract.field_plans import holders_of, plan
from slipway.contract.items import Item
from slipway.contract.secret_references import references
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb

_PROVIDE = "create that Secret with that key, or send its value with the request"

_VALUE = secretpb.SecretValue.DESCRIPTOR.full_name

INLINE = "slipway.dev/inline"
"""Name of the secret that holds what a spec had written in place."""


def lift_inline(message: Message) -> list[secretpb.Secret]:
    """Move every secret value that is written in place out of `message`, leaving a reference; give the secrets."""
    lifted: list[secretpb.Secret] = []
    for entry in _values(message):
        if entry.WhichOneof("source") == "value":
            key = f"value-{len(lifted)}"
            lifted.append(
                secretpb.Secret(name=INLINE, key=key, kind=secretpb.SECRET_KIND_OPAQUE, value=entry.value.encode())
            )
            entry.secret_ref.CopyFrom(secretpb.SecretReference(name=INLINE, key=key))
    return lifted


def has_inline(message: Message) -> bool:
    """Return whether a secret value is written in place somewhere in `message`."""
    return any(entry.WhichOneof("source") == "value" for entry in _values(message))


def _values(message: Message) -> Iterator[secretpb.SecretValue]:
    """Give every secret value in `message`, in the order of the fields."""
    if isinstance(message, secretpb.SecretValue):
        yield message
        return
    holders = holders_of(message.DESCRIPTOR, _VALUE)
    for descriptor, value in message.ListFields():
        if descriptor.number in holders:
            for entry in value if plan(message.DESCRIPTOR)[descriptor.number].repeated else [value]:
                yield from _values(entry)


def _named(index: FieldIndex[Item], path: str) -> str:
    """Give the user's own name for the item of a reference, or the path itself where it has none."""
    item = index.holder(path)
    if item is not None and item.message.origin.path:
        return describe(item.message.origin)
    return person_path(path.removeprefix("intent."))


def collect(bundle: bundlepb.BootstrapBundle, available: Iterable[secretpb.Secret]) -> int:
    """Set the bundle's SecretMaterial to what the bundle refers to, sorted by name and key.

    Gives the bytes of these secrets, each counted wherever it is referred to, as referenced_bytes().

    Raises:
        SecretMissing: something is referred to that is not available; names the fields, never a value.
    """
    known = {(secret.name, secret.key): secret for secret in available}
    wanted: dict[tuple[str, str], secretpb.Secret] = {}
    missing, size = [], 0
    for path, reference in references(bundle):
        place = (reference.name, reference.key)
        if place in known:
            wanted[place] = known[place]
            size += len(known[place].value)
        else:
            missing.append((path, f"refers to key {reference.key} of secret {reference.name}, which is not there"))
    if missing:
        index = item_index(bundle)
        raise SecretMissing(
            "the spec refers to secrets that are not there",
            violations=[Violation(_named(index, path), problem, remedy=_PROVIDE) for path, problem in missing],
        )
    bundle.ClearField("secrets")
    bundle.secrets.secrets.extend(wanted[place] for place in sorted(wanted))
    return size
