"""Adds entries to lists that are like another one in one field, and unlike it in all others.

Authors take a field for the name of an item although two items may share it, and lose the second one. The rules of the
contract say which fields are names: bundles that break them are left out.
"""

from collections.abc import Iterator

from google.protobuf.descriptor import FieldDescriptor

from slipway.conformance.faults import faults, fits
from slipway.conformance.variations import Variation, held_by, lists_of, renamed
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_SUFFIX = "-like"


def likenesses(bundle: bundlepb.BootstrapBundle, tried: set[str]) -> Iterator[Variation]:
    """Give the bundle with one more entry in a list, like the first one in a text; fields in `tried` are left out."""
    known = faults(bundle)
    for path, message, field in list(lists_of(bundle, ())):
        for text, _ in getattr(message, field.name)[0].ListFields():
            name = f"{message.DESCRIPTOR.name}.{field.name}, of which two have the same {text.name}"
            if text.type != FieldDescriptor.TYPE_STRING or text.is_repeated or name in tried:
                continue
            other = bundlepb.BootstrapBundle()
            other.CopyFrom(bundle)
            entries = getattr(held_by(other, path), field.name)
            entries.append(renamed(entries[0], _SUFFIX, kept=text.name))
            if entries[-1] != entries[0] and fits(other, bundle, known):
                tried.add(name)
                yield Variation(name, other)
