"""What an imported config says to cloud-init alone, in words of the config: its author wrote no extension.

The importer keeps such an item in an extension of cloud-init's provisioner, whose origin is the field that binds it.
An extension that a spec has itself is named by its id.
"""

import json
import re
from typing import Any

from slipway.contract.content import normal_segments
from slipway.contract.feature_uses import Use
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

_ITEM = "ext.cloud-init.slipway.dev/item"
_PARTITION_SEARCH = "ext.cloud-init.slipway.dev/partition-search"
_MARKS = re.compile(r"\{[{%#]")
_OWN = re.compile(r"(?:^|\.)extensions\[\d+\]")

_OF_THE_MACHINE = (
    "holds what only the machine knows, in a field that every format but cloud-init's has to know before",
    "write the value itself",
)
_REPEATED = (
    "names a user that an earlier entry names, and only cloud-init merges the two",
    "write what both entries say into one",
)
_ONE_WORD = ("is one word, of which only cloud-init makes a mount", "write what is mounted, and where")
_SEARCH = (
    "has a partition found or chosen on the machine, which only cloud-init does",
    "write the number of a partition, or none for the whole disk",
)


def is_of_config(feature: str, origin: diagnosticpb.Origin) -> bool:
    """Return whether an extension was made of a field of an imported config, where its origin is."""
    return feature in {_ITEM, _PARTITION_SEARCH} and bool(origin.path) and not _OWN.search(origin.path)


def words_of(use: Use) -> tuple[str, str] | None:
    """Give reason and remedy for an item that an import has kept for cloud-init; None for any other use."""
    extension = use.item
    if not isinstance(extension, specpb.Extension) or not is_of_config(use.id, extension.origin):
        return None
    if use.id == _PARTITION_SEARCH:
        return _SEARCH
    pieces = (segment.data or segment.text.encode() or b'""' for segment in normal_segments(extension.content))
    try:
        entry = json.loads(b"".join(pieces))
    except ValueError:
        return _OF_THE_MACHINE
    key, item = (entry.get("key"), entry.get("item")) if isinstance(entry, dict) else (None, None)
    if key == "users" and _is_repeated(item, extension.origin.path):
        return _REPEATED
    if key == "mounts" and isinstance(item, list) and len(item) == 1 and not _MARKS.search(str(item[0])):
        return _ONE_WORD
    return _OF_THE_MACHINE


def _is_repeated(user: Any, path: str) -> bool:
    """Return whether the user's name binds it, although every format knows that."""
    name = str(user.get("name", "")) if isinstance(user, dict) else ""
    return path.endswith(".name") and not _MARKS.search(name)
