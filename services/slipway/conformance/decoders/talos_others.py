"""What a Talos machine configuration says besides what the decoder reads: a rule for a device, a door to its API."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slipway.conformance.decoders.unread import known, other, unread
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb


def others(main: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> Iterator[statepb.Other]:
    """Give all that is neither read nor what every machine of Talos has."""
    tree = known("talos")
    yield from unread(main, tree["main"], "")
    for document in documents:
        kind = str(document.get("kind", "document"))
        if kind in tree["documents"]:
            yield from unread(document, {"apiVersion": None, "kind": None, **tree["documents"][kind]}, f"{kind}.")
        else:
            yield other(kind, document)
