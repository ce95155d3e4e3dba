"""Which features a bundle uses, and which of them a format does not take.

protobuf drops what it does not know, so a provisioner that predates a field would boot a node without it. The list of
features in use, computed on both sides from the same descriptors, is what makes that impossible.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from google.protobuf.message import Message

from slipway.contract.feature_uses import Use, uses
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

MAX_PATHS = 3
"""Most paths in a FeatureUse (design: "<= 3")."""


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A use that a format does not take, and why."""

    use: Use
    why: str


def feature_uses(message: Message, *, used: Iterable[Use] | None = None) -> list[diagnosticpb.FeatureUse]:
    """Give the features that are in use, sorted by id, each with up to three paths and a count.

    `used` are the uses in the message, where the caller has them: a walk through a large bundle takes long.
    """
    paths: dict[str, list[str]] = defaultdict(list)
    for use in uses(message) if used is None else used:
        paths[use.id].append(use.path)
    return [
        diagnosticpb.FeatureUse(id=id_, paths=found[:MAX_PATHS], count=len(found))
        for id_, found in sorted(paths.items())
    ]


def compute_features(bundle: bundlepb.BootstrapBundle, *, used: Iterable[Use] | None = None) -> None:
    """Set `required_features` and `features_computed` of a bundle from what is set in it; `used` as feature_uses()."""
    del bundle.required_features[:]
    bundle.required_features.extend(feature_uses(bundle, used=used))
    bundle.features_computed = True


Supports = Mapping[str, provisionerpb.FeatureSupport]
"""Declared features by id."""


def by_id(supports: Iterable[provisionerpb.FeatureSupport]) -> Supports:
    """Return declared features by id. It takes a call for each, so a caller that asks often keeps the result."""
    return {support.id: support for support in supports}


def unsupported(
    message: Message,
    supports: Supports | Iterable[provisionerpb.FeatureSupport],
    *,
    used: Iterable[Use] | None = None,
) -> list[Unsupported]:
    """Return every use of a feature that is not among `supports`, or that is outside its bounds.

    The bounds are those of FeatureSupport: path prefixes, those excluded, allowed values, number of uses, bytes.
    `used` as feature_uses().
    """
    declared = supports if isinstance(supports, Mapping) else by_id(supports)
    counts: dict[str, int] = defaultdict(int)
    bounded: dict[str, bool] = {}
    entries = []
    for use in uses(message) if used is None else used:
        support = declared.get(use.id)
        if support is None:
            entries.append(Unsupported(use, "is not supported"))
            continue
        if use.id not in bounded:
            bounded[use.id] = _is_bounded(support)
        if not bounded[use.id]:
            continue
        counts[use.id] += 1
        why = _outside(use, support, counts[use.id])
        if why:
            entries.append(Unsupported(use, why))
    return entries


def undeclared(
    required: Iterable[diagnosticpb.FeatureUse], supports: Iterable[provisionerpb.FeatureSupport]
) -> list[str]:
    """Give the ids in a bundle's own list that a format does not declare.

    They may be younger than this program: then the walk cannot find them, and the list is all there is.
    """
    declared = {support.id for support in supports}
    return [use.id for use in required if use.id not in declared]


def _is_bounded(support: provisionerpb.FeatureSupport) -> bool:
    """Return whether any use can be outside the bounds of a support: most have none, and uses are many."""
    return bool(
        support.path_prefixes
        or support.excluded_path_prefixes
        or support.allowed_values
        or support.HasField("max_items")
        or support.HasField("max_bytes")
    )


def _outside(use: Use, support: provisionerpb.FeatureSupport, count: int) -> str:
    if support.path_prefixes:
        path = getattr(use.item, "path", "") if use.item is not None else ""
        if not any(_below(path, prefix) for prefix in support.path_prefixes):
            return f"is supported only below {', '.join(support.path_prefixes)}"
    if support.excluded_path_prefixes:
        path = getattr(use.item, "path", "") if use.item is not None else ""
        if any(_below(path, prefix) for prefix in support.excluded_path_prefixes):
            return f"is not supported below {', '.join(support.excluded_path_prefixes)}"
    if support.allowed_values and _spelling(use) not in support.allowed_values:
        return f"is supported only as {', '.join(support.allowed_values)}"
    if support.HasField("max_items") and count > support.max_items:
        return f"is supported at most {support.max_items} times"
    if support.HasField("max_bytes") and _size(use) > support.max_bytes:
        return f"is supported up to {support.max_bytes} bytes"
    return ""


def _below(path: str, prefix: str) -> bool:
    return path == prefix.rstrip("/") or path.startswith(prefix.rstrip("/") + "/")


def _spelling(use: Use) -> str:
    if use.enum is not None:
        known = use.enum.values_by_number.get(use.value)
        return known.name if known is not None else str(use.value)
    if isinstance(use.value, bool):
        return "true" if use.value else "false"
    return str(use.value)


def _size(use: Use) -> int:
    if isinstance(use.value, Message):
        return use.value.ByteSize()
    return len(use.value if isinstance(use.value, bytes) else str(use.value).encode())
