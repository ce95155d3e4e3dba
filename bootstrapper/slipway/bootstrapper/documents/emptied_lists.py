"""Empty lists in `init` and `join`, which the contract has no way to say.

A list there replaces the one of the spec, and an empty list is no list on the wire: it would be ignored in silence.
"""

from collections.abc import Iterator
from typing import Any

from slipway.contract.source_position import FieldPath

_OVERRIDES = ("init", "join")
_MEANT = ("taints", "items")
"""Taints are a message that says by being there that there are none."""
_MESSAGE = (
    "an empty list takes nothing away. Leave the list out above, and say it in init or join, for the machines that "
    "are to have it"
)


def emptied_lists(spec: Any, path: FieldPath) -> list[tuple[FieldPath, str]]:
    """Give path and problem of each empty list in the differences by role of a spec, as a plain tree."""
    overrides = [(name, spec.get(name)) for name in _OVERRIDES] if isinstance(spec, dict) else []
    return [(place, _MESSAGE) for name, tree in overrides for place in _empty(tree, (*path, name))]


def _empty(tree: Any, path: FieldPath) -> Iterator[FieldPath]:
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _empty(value, (*path, key))
    elif tree == [] and path[-2:] != _MEANT:
        yield path
