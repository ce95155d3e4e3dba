"""The names of all features of the contract, so that a name which is none can be told from one that is."""

from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import Descriptor

from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb


@cache
def feature_names() -> frozenset[str]:
    """Give the ids of all features, but for those of extensions, which are their authors'."""
    return frozenset(_names(bundlepb.BootstrapBundle.DESCRIPTOR, above="", seen=frozenset()))


def _names(descriptor: Descriptor, *, above: str, seen: frozenset[str]) -> Iterator[str]:
    for field in plan(descriptor).values():
        own = field.own_id(above)
        nearest = own or above
        if own:
            yield own
        for name in field.value_features.values():
            if nearest or not name.startswith("."):
                yield nearest + name if name.startswith(".") else name
        inner = field.message
        if inner is not None and inner.full_name not in seen:
            yield from _names(inner, above=nearest, seen=seen | {inner.full_name})
