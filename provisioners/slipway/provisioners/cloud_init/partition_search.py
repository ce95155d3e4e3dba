"""The extension `cloud-init.slipway.dev/partition-search`: cloud-init looks for the partition of a disk by itself.

No other first-boot system searches, so it is no field of a filesystem. The content is a JSON list, of which each entry
names a filesystem of the bundle by `device`, `filesystem` and `label`, and says in `partition` what cloud-init is to
do: "auto", "any" or "none", as the reference of its key `fs_setup` has it.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.contract.errors import BundleInvalid, Violation
from slipway.provisioners.cloud_init.features import PARTITION_SEARCH
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb

_FEATURE = f"ext.{PARTITION_SEARCH}"
_KEYS = frozenset({"device", "filesystem", "label", "partition"})
_ITSELF = "none"
"""cloud-init's word for the device itself."""
_WORDS = frozenset({"auto", "any", _ITSELF})

Key = tuple[str, str, str]


@dataclass(slots=True)
class PartitionSearches:
    """Where cloud-init is to look for which filesystem.

    Attributes:
        words: cloud-init's words by device, kind and label of a filesystem, each with the path of its extension.
    """

    words: dict[Key, list[tuple[str, str]]]

    def partition(self, filesystem: ospb.Filesystem) -> str:
        """Give cloud-init's word for the partition of a filesystem; alike ones have their words in the order given."""
        words = self.words.get((filesystem.device, filesystem.format, filesystem.label))
        return words.pop(0)[0] if words else _ITSELF

    def refuse_unused(self, ctx: RenderContext) -> None:
        """Refuse what names no filesystem of the bundle: it would have no effect."""
        for path in sorted({path for words in self.words.values() for _, path in words}):
            ctx.refuse(path, _FEATURE, "names a filesystem that the bundle does not have", remedy="leave the entry out")


def partition_searches(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> PartitionSearches:
    """Read the extensions of a bundle.

    Raises:
        BundleInvalid: one is not JSON, or not of the form that the module's text says.
    """
    searches = PartitionSearches({})
    for index, extension in enumerate(bundle.extensions):
        if extension.id != PARTITION_SEARCH:
            continue
        path = f"extensions[{index}]"
        for entry in _entries(ctx.content(extension.content, f"{path}.content"), f"{path}.content"):
            key = (entry["device"], entry["filesystem"], entry.get("label", ""))
            searches.words.setdefault(key, []).append((entry["partition"], path))
    return searches


def _entries(data: bytes, path: str) -> list[Mapping[str, str]]:
    try:
        entries: Any = json.loads(data)
    except (ValueError, RecursionError):
        entries = None
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        why = "must be a JSON list of objects with device, filesystem, partition (auto, any or none) and maybe label"
        raise BundleInvalid("an extension cannot be read", violations=[Violation(path, why)])
    return entries


def _is_entry(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and _KEYS - {"label"} <= entry.keys() <= _KEYS
        and all(isinstance(value, str) for value in entry.values())
        and entry["partition"] in _WORDS
    )
