"""What makes a machine large, in the words of who asked for it: fields of the request, before anything is made of them.

A refusal that names what was lowered would blame a file for the steps that it holds.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from slipway.contract.items import items
from slipway.contract.secret_references import references
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import secret_pb2 as secretpb

_INDEX = re.compile(r"\[[^\[\]]*+\]$")
_SHOWN = 8

Part = tuple[str, int]
"""A field, and its bytes."""


def largest_parts(
    neutral: bundlepb.BootstrapBundle, request_secrets: Sequence[secretpb.Secret], *, field: str, spliced: bool
) -> list[Part]:
    """Give the largest parts of a machine, the largest first.

    Many small entries of a list are one part, the list: none of them is the cause.

    Args:
        neutral: the bundle before it was lowered, whose items have the places where they were written.
        request_secrets: the secrets of the request.
        field: where these stand in the request.
        spliced: count a secret wherever it is referred to, and not once.
    """
    parts = [*_lists(_written(neutral)), *_secrets(neutral, request_secrets, field=field, spliced=spliced)]
    return sorted(parts, key=lambda part: (-part[1], part[0]))[:_SHOWN]


def described(parts: Sequence[Part]) -> str:
    """Return the parts as the end of a sentence."""
    return "; ".join(f"{place} has {size} bytes" for place, size in parts)


def breakdown(parts: Sequence[Part]) -> str:
    """Return the parts as programs read them: origin=bytes, comma-separated."""
    return ",".join(f"{place}={size}" for place, size in parts)


def _written(neutral: bundlepb.BootstrapBundle) -> Iterator[Part]:
    for item in items(neutral):
        origin = item.message.origin
        if origin.path:
            place = f"{origin.document}: {origin.path}" if origin.document else str(origin.path)
            yield place, item.message.ByteSize()


def _lists(parts: Iterator[Part]) -> Iterator[Part]:
    lists: dict[str, list[Part]] = defaultdict(list)
    for place, size in parts:
        lists[_INDEX.sub("", place)].append((place, size))
    for name, entries in lists.items():
        total = sum(size for _, size in entries)
        largest = max(size for _, size in entries)
        if len(entries) > 1 and largest * _SHOWN < total:
            yield name, total
        else:
            yield from entries


def _secrets(
    neutral: bundlepb.BootstrapBundle, request_secrets: Sequence[secretpb.Secret], *, field: str, spliced: bool
) -> Iterator[Part]:
    uses = Counter((reference.name, reference.key) for _, reference in references(neutral))
    for index, secret in enumerate(request_secrets):
        count = uses[secret.name, secret.key]
        if count:
            yield f"{field}.secrets[{index}]", len(secret.value) * (count if spliced else 1)
