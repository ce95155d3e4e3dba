"""Every feature id that the contract knows, read from its descriptors."""

from collections.abc import Iterator
from functools import cache

from google.protobuf.descriptor import Descriptor

from slipway.contract.field_plans import plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb


@cache
def known_ids() -> frozenset[str]:
    """Give all ids that a bundle can use, without those of extensions."""
    return frozenset(_ids(bundlepb.BootstrapBundle.DESCRIPTOR, "", frozenset()))


def _ids(descriptor: Descriptor, above: str, seen: frozenset[tuple[str, str]]) -> Iterator[str]:
    if (descriptor.full_name, above) in seen:
        return
    seen |= {(descriptor.full_name, above)}
    for field in plan(descriptor).values():
        own = field.own_id(above)
        if own:
            yield own
        nearest = own or above
        for suffix in field.value_features.values():
            if nearest or not suffix.startswith("."):
                yield nearest + suffix if suffix.startswith(".") else suffix
        if field.message is not None and field.below:
            yield from _ids(field.message, nearest, seen)
