"""Makes user data fit: as it is, or compressed as a whole; else a refusal that says what is so large.

Source of the strategy: design 5.7.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.delivery.compression import compress
from slipway.bootstrapper.delivery.infrastructure import Counted, Infrastructure
from slipway.contract.errors import UserDataTooLarge, Violation
from slipway.contract.items import items
from slipway.contract.secret_references import references
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

IDENTITY = "identity"
GZIP = "gzip"
_SHOWN = 8
_MACHINE = "machine"
"""Where a refusal stands when nothing of a person's own is in the user data."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """User data as it must reach the machine."""

    data: bytes
    encoding: str
    size: bootstrappb.Size


def fit(
    data: bytes,
    bundle: bundlepb.BootstrapBundle,
    *,
    row: Infrastructure,
    limit: int,
    may_compress: bool,
) -> Fitted:
    """Return user data that the infrastructure takes: as they are, else compressed, else under a higher limit.

    Args:
        data: the user data as rendered.
        bundle: the bundle it was made of, for the breakdown.
        row: the infrastructure.
        limit: the caller's own limit, counted as the infrastructure counts; 0 for the table's.
        may_compress: format and caller can both take gzip.

    Raises:
        UserDataTooLarge: it does not fit even compressed; names the largest items by origin.
    """
    compressed = compress(data)
    plain = row.count(data)
    size = bootstrappb.Size(
        raw_bytes=len(data),
        gzip_bytes=len(compressed),
        limit_bytes=limit or row.limit_bytes,
        counted_bytes=plain,
        items=item_sizes(bundle),
    )
    if plain <= size.limit_bytes:
        return Fitted(data, IDENTITY, size)
    if may_compress and row.gzip:
        size.counted_bytes = row.count(compressed)
        if size.counted_bytes <= size.limit_bytes:
            return Fitted(compressed, GZIP, size)
    if row.larger is not None and not limit:
        size.limit_bytes = row.larger.limit_bytes
        if plain <= size.limit_bytes:
            size.counted_bytes = plain
            return Fitted(data, IDENTITY, size)
    raise _too_large(size, bundle, how=_how(row, squeezed=may_compress and row.gzip), who="caller" if limit else "")


def _too_large(size: bootstrappb.Size, bundle: bundlepb.BootstrapBundle, *, how: str, who: str) -> UserDataTooLarge:
    """Make the refusal: at the largest of a person's own items, with what each of the largest adds."""
    largest = size.items[:_SHOWN]
    shown = "; ".join(f"{describe(entry.origin)} has {entry.bytes} bytes" for entry in largest)
    taker = who or f"infrastructure {bundle.machine.target.infrastructure or '(unknown)'}"
    sentence = (
        f"the user data of machine {bundle.machine.name} has {size.counted_bytes} bytes{how}, and the {taker} takes "
        f"{size.limit_bytes}"
    )
    place = next((describe(item.origin) for item in size.items if item.origin.path), _MACHINE)
    return UserDataTooLarge(
        f"{sentence}. Move content into remote files or into the image",
        violations=[Violation(place, f"{sentence}; the largest parts, before that: {shown}")],
        metadata={
            "size": str(size.counted_bytes),
            "limit": str(size.limit_bytes),
            "breakdown": ",".join(f"{entry.field_path}={entry.bytes}" for entry in largest),
        },
    )


def _how(row: Infrastructure, *, squeezed: bool) -> str:
    """Say what was done to the bytes that were counted."""
    steps = ["gzip"] if squeezed or row.counted is Counted.GZIP_BASE64 else []
    steps += [] if row.counted is Counted.RAW else ["base64"]
    return f" after {' and '.join(steps)}" if steps else ""


def item_sizes(bundle: bundlepb.BootstrapBundle) -> Sequence[bootstrappb.ItemSize]:
    """Give what each item adds to the bundle, in bytes with the secrets that it refers to, largest first."""
    secrets = {(secret.name, secret.key): len(secret.value) for secret in bundle.secrets.secrets}
    sizes = [
        bootstrappb.ItemSize(origin=item.message.origin, field_path=item.path, bytes=_bytes(item.message, secrets))
        for item in items(bundle)
    ]
    return sorted(sizes, key=lambda item: (-item.bytes, item.field_path))


def _bytes(message: Message, secrets: dict[tuple[str, str], int]) -> int:
    size: int = message.ByteSize()
    return size + sum(secrets.get((reference.name, reference.key), 0) for _, reference in references(message))
