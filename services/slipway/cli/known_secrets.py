"""Makes two bundles comparable by the values of their secrets: a reference becomes the digest of what it refers to.

The values and their digests stay in this process: only names of items and fields are ever shown.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from slipway.contract.secret_references import references
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb

Place = tuple[str, str]
"""Name and key of a secret."""

_KNOWN = "slipway.dev/known"


@dataclass(frozen=True, slots=True)
class Comparable:
    """What a machine will be.

    Attributes:
        bundle: its neutral bundle.
        known: digests of the secrets whose values are at hand.
        controls: the controls of compliance profiles that ask for an item, by the item's field path.
    """

    bundle: bundlepb.BootstrapBundle = field(repr=False)
    known: Mapping[Place, str] = field(repr=False)
    controls: Mapping[str, str] = field(default_factory=dict)

    def unknown(self) -> set[Place]:
        """Give what is referred to without its value being at hand."""
        return {(secret.name, secret.key) for _, secret in references(self.bundle)} - self.known.keys()


def known_values(secrets: Iterable[secretpb.Secret]) -> dict[Place, str]:
    """Give the digests of secrets."""
    return {(secret.name, secret.key): hashlib.sha256(secret.value).hexdigest() for secret in secrets}


def digested(
    old: Comparable, new: Comparable, *, by_value: bool
) -> tuple[bundlepb.BootstrapBundle, bundlepb.BootstrapBundle]:
    """Give copies of two bundles that refer to the values themselves.

    What one side does not know stays a reference on both, for a reference and a digest would always differ.

    Args:
        old: the machine before.
        new: the machine after.
        by_value: distinguish two values; else all that are known look the same.
    """
    unknown = old.unknown() | new.unknown()
    return _digested(old, unknown, by_value=by_value), _digested(new, unknown, by_value=by_value)


def one_sided(old: Mapping[str, Comparable], new: Mapping[str, Comparable]) -> Iterator[Place]:
    """Give the secrets whose value is at hand on one side only, while both sides refer to them."""
    both = [(old[name], new[name]) for name in sorted(old.keys() & new.keys())]
    places = {
        place for entry, two in both for place in entry.unknown() ^ two.unknown() if _refer_both(entry, two, place)
    }
    yield from sorted(places)


def _refer_both(first: Comparable, second: Comparable, place: Place) -> bool:
    return all(place in {(each.name, each.key) for _, each in references(side.bundle)} for side in (first, second))


def _digested(side: Comparable, unknown: set[Place], *, by_value: bool) -> bundlepb.BootstrapBundle:
    bundle = bundlepb.BootstrapBundle()
    bundle.CopyFrom(side.bundle)
    for _, reference in references(bundle):
        place = (reference.name, reference.key)
        if place in side.known and place not in unknown:
            reference.name, reference.key = _KNOWN, side.known[place] if by_value else ""
    return bundle
