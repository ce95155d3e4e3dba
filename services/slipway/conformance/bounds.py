"""Which uses of a bundle a format does not take: undeclared ones, and those outside of what it declares."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.contract.feature_uses import Use, uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


@dataclass(frozen=True, slots=True)
class Outside:
    """A use that a format must refuse: its feature, its path, and whether the feature is declared at all."""

    id: str
    path: str
    declared: bool


def outside(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> list[Outside]:
    """Give what the format must refuse of a bundle."""
    return list(_outside(bundle, info))


def _outside(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> Iterator[Outside]:
    supports = {support.id: support for support in info.features}
    counts: Counter[str] = Counter()
    for use in uses(bundle):
        support = supports.get(use.id)
        if support is None:
            yield Outside(use.id, use.path, declared=False)
            continue
        counts[use.id] += 1
        if not _fits(use, support, counts[use.id]):
            yield Outside(use.id, use.path, declared=True)


def _fits(use: Use, support: provisionerpb.FeatureSupport, count: int) -> bool:
    path = str(getattr(use.item, "path", ""))
    if support.path_prefixes and not _below(path, support.path_prefixes):
        return False
    if _below(path, support.excluded_path_prefixes):
        return False
    if support.allowed_values and _spelt(use) not in support.allowed_values:
        return False
    if support.HasField("max_items") and count > support.max_items:
        return False
    return not support.HasField("max_bytes") or _bytes(use) <= support.max_bytes


def _below(path: str, prefixes: Iterable[str]) -> bool:
    return any(path == prefix.rstrip("/") or path.startswith(prefix.rstrip("/") + "/") for prefix in prefixes)


def _spelt(use: Use) -> str:
    if use.enum is not None:
        known = use.enum.values_by_number.get(use.value)
        return known.name if known is not None else str(use.value)
    if isinstance(use.value, bool):
        return str(use.value).lower()
    return str(use.value)


def _bytes(use: Use) -> int:
    if isinstance(use.value, Message):
        return use.value.ByteSize()
    return len(use.value if isinstance(use.value, bytes) else str(use.value).encode())
