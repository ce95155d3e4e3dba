"""Makes user data fit: as it is, or compressed as a whole; else a refusal that says what is so large.

Source of the strategy: design 5.7.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.own_plan import ANY_MACHINE
from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.delivery.infrastructure import Counted, Infrastructure, compress
from slipway.bootstrapper.delivery.largest import Part, breakdown, described
from slipway.contract.errors import UserDataTooLarge, Violation
from slipway.contract.items import items
from slipway.contract.secret_references import references
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

IDENTITY = "identity"
GZIP = "gzip"
_SHOWN = 8
_OURS = "Slipway"
_REMEDY = "move content into remote files or into the image"
_FETCH = f"{_REMEDY}, or set delivery.mode to Fetch, with which they fit"
_MACHINE = "machine"
"""Where a refusal stands when nothing of a person's own is in the user data."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """User data as it must reach the machine."""

    data: bytes
    encoding: str
    size: bootstrappb.Size


def fit(  # noqa: PLR0913  # what is given, and what takes it
    data: bytes,
    bundle: bundlepb.BootstrapBundle,
    *,
    row: Infrastructure,
    limit: int,
    may_compress: bool,
    parts: Callable[[], Sequence[Part]] = tuple,
    may_fetch: bool = False,
) -> Fitted:
    """Return user data that the infrastructure takes: as they are, else compressed, else under a higher limit.

    Args:
        data: the user data as rendered.
        bundle: the bundle it was made of, for the breakdown.
        row: the infrastructure.
        limit: the caller's own limit, counted as the infrastructure counts; 0 for the table's.
        may_compress: format and caller can both take gzip.
        parts: gives what makes the user data so large, as far as a person wrote it.
        may_fetch: a stub that fetches the user data would fit.

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
    how = _how(row, squeezed=may_compress and row.gzip)
    raise _too_large(size, bundle, parts(), how=how, own_limit=bool(limit), remedy=_FETCH if may_fetch else _REMEDY)


def _too_large(  # noqa: PLR0913  # what is wrong, and what to do
    size: bootstrappb.Size,
    bundle: bundlepb.BootstrapBundle,
    parts: Sequence[Part],
    *,
    how: str,
    own_limit: bool,
    remedy: str,
) -> UserDataTooLarge:
    """Make the refusal: at the largest part of a person's own, with what each of the largest adds."""
    parts = parts or [(describe(entry.origin), entry.bytes) for entry in size.items if entry.origin.path][:_SHOWN]
    added = sum(entry.bytes for entry in size.items if not entry.origin.path)
    shown = sorted([*parts, (_OURS, added)] if added else parts, key=lambda part: -part[1])
    taker = f"the infrastructure {bundle.machine.target.infrastructure or '(unknown)'} takes"
    if own_limit:
        taker = "maxUserDataBytes of the request allows"
    whole = "the user data" + (f" of machine {name}" if (name := bundle.machine.name) not in {"", ANY_MACHINE} else "")
    sentence = f"{whole} has {size.counted_bytes} bytes{how}, and {taker} {size.limit_bytes}"
    place = parts[0][0] if parts else _MACHINE
    return UserDataTooLarge(
        sentence,
        violations=[Violation(place, f"{sentence}; the largest parts, before that: {described(shown)}", remedy=remedy)],
        metadata={
            "size": str(size.counted_bytes),
            "limit": str(size.limit_bytes),
            "breakdown": breakdown(shown),
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
