"""Objects at rest: a large spec is kept as text, since countless small values take twenty times their bytes in memory.

The API server takes objects of 1.5 MB, and every user who may create one may create many.
"""

import json
import zlib
from typing import Any

from slipway.kubernetes_api.resources import Json

MOST_VALUES = 2_048
MOST_CHARACTERS = 64 * 1024
"""What has more of either is large; the spec of a usual machine has a hundred values."""


class PackedSpec:
    """A spec as compressed text."""

    __slots__ = ("_data",)

    def __init__(self, spec: Any) -> None:
        """Pack a spec."""
        self._data = zlib.compress(json.dumps(spec).encode(), level=1)

    def unpacked(self) -> Any:
        """Return the spec."""
        return json.loads(zlib.decompress(self._data))


def packed(item: Json) -> Json:
    """Return an object with its spec packed where that is large, else the object itself."""
    return {**item, "spec": PackedSpec(item["spec"])} if _is_large(item.get("spec")) else item


def is_packed(item: Json) -> bool:
    """Return whether the spec of an object is packed."""
    return isinstance(item.get("spec"), PackedSpec)


def unpacked(item: Json) -> Json:
    """Return an object with its spec."""
    spec = item.get("spec")
    return {**item, "spec": spec.unpacked()} if isinstance(spec, PackedSpec) else item


def _is_large(tree: Any) -> bool:
    """Count until it is too much: the work has a bound, too."""
    values = characters = 0
    waiting = [tree]
    while waiting:
        each = waiting.pop()
        values += 1
        if isinstance(each, str):
            characters += len(each)
        elif isinstance(each, dict):
            characters += sum(map(len, each))
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)
        if values + len(waiting) > MOST_VALUES or characters > MOST_CHARACTERS:
            return True
    return False
