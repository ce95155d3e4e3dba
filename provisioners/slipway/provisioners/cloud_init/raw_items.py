"""The extension `cloud-init.slipway.dev/item`: an item of cloud-config as it is written, for want of a neutral one.

Its texts may be Jinja, in fields that every other format has to know before the machine is there. The content is a JSON
object: `key` is the key of cloud-config; `item` an entry of it, for `ntp` all of it, for `disk_setup` an entry with its
name in `device`; `position` counts the bundle's own items of the key that come before it. Unset, all of them do.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slipway.contract.errors import BundleInvalid, Violation
from slipway.provisioners.cloud_init.document import Name, Value
from slipway.provisioners.cloud_init.features import ITEM
from slipway.provisioners.cloud_init.texts import template
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_FEATURE = f"ext.{ITEM}"
_MARKS = re.compile(r"\{[{%#]")
_HALVES = re.compile("[\ud800-\udfff]")
_LAST = 1 << 31
_KEYS = frozenset({"key", "item", "position"})


def _is_row(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and all(isinstance(word, str) for word in item)


def _is_entry(item: Any) -> bool:
    return isinstance(item, dict) and bool(item)


def _is_disk(item: Any) -> bool:
    return _is_entry(item) and isinstance(item.get("device"), str) and "\n" not in item["device"]


_ITEMS: Mapping[str, Callable[[Any], bool]] = {
    "disk_setup": _is_disk,
    "fs_setup": _is_entry,
    "mounts": _is_row,
    "ntp": _is_entry,
    "users": _is_entry,
    "write_files": _is_entry,
}


@dataclass(frozen=True, slots=True)
class _Item:
    key: str
    position: int
    item: Any
    path: str


@dataclass(frozen=True, slots=True)
class RawItems:
    """The items of a bundle that are written as they are, in its order."""

    items: Sequence[_Item]
    ctx: RenderContext

    def among(self, key: str, own: Sequence[Sequence[Value]]) -> list[Value]:
        """Return the entries of a list: those of each item of the bundle, and these at their positions."""
        entries: list[Value] = []
        for index, values in enumerate([*own, ()]):
            entries += (self._value(raw.item, raw) for raw in self._of(key) if min(raw.position, len(own)) == index)
            entries += values
        return entries

    def disks(self, own: Mapping[str, Value]) -> dict[str, Value]:
        """Give the key `disk_setup`; a second entry of a device is refused."""
        disks = dict(own)
        for raw in self._of("disk_setup"):
            device = raw.item["device"]
            if device in disks:
                self.ctx.refuse(raw.path, _FEATURE, "names a disk that has an entry", remedy="keep one of them")
            entry = {key: value for key, value in raw.item.items() if key != "device"}
            disks[Name(device) if _MARKS.search(device) else device] = self._value(entry, raw)
        return disks

    def ntp(self) -> Value:
        """Give the key `ntp`; a second one is refused."""
        items = self._of("ntp")
        for raw in items[1:]:
            self.ctx.refuse(raw.path, _FEATURE, "ntp is there twice", remedy="keep one of them")
        return self._value(items[0].item, items[0]) if items else {}

    def _of(self, key: str) -> list[_Item]:
        return [raw for raw in self.items if raw.key == key]

    def _value(self, value: Any, raw: _Item) -> Value:
        if isinstance(value, dict):
            return {key: self._value(entry, raw) for key, entry in value.items()}
        if isinstance(value, list):
            return [self._value(entry, raw) for entry in value]
        if not isinstance(value, str) or not _MARKS.search(value):
            plain: Value = value
            return plain
        text = template(value)
        if text is None:
            self.ctx.refuse(raw.path, _FEATURE, "holds Jinja with characters that cannot stand in a block of YAML")
            return ""
        return text


def raw_items(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> RawItems:
    """Read the extensions of a bundle.

    Raises:
        BundleInvalid: one is not JSON, or not of the form that the module's text says.
    """
    return RawItems(
        [
            _read(ctx.content(extension.content, f"extensions[{index}].content"), f"extensions[{index}]")
            for index, extension in enumerate(bundle.extensions)
            if extension.id == ITEM
        ],
        ctx,
    )


def _read(data: bytes, path: str) -> _Item:
    try:
        entry: Any = json.loads(data)
        if _fits(entry):
            return _Item(entry["key"], entry.get("position", _LAST), entry["item"], path)
    except (ValueError, RecursionError):
        pass
    why = f"must be a JSON object with an item, its key ({', '.join(_ITEMS)}) and maybe its position"
    raise BundleInvalid("an extension cannot be read", violations=[Violation(f"{path}.content", why)])


def _fits(entry: Any) -> bool:
    if not isinstance(entry, dict) or not _KEYS - {"position"} <= entry.keys() <= _KEYS:
        return False
    is_item, position = _ITEMS.get(str(entry["key"])), entry.get("position", 0)
    return (
        is_item is not None
        and is_item(entry["item"])
        and type(position) is int
        and 0 <= position <= _LAST
        and _is_plain(entry["item"])
    )


def _is_plain(value: Any) -> bool:
    """Return whether a value has nothing but what a document of cloud-config can hold."""
    if isinstance(value, dict):
        return all(_is_plain(key) and _is_plain(entry) for key, entry in value.items())
    if isinstance(value, list):
        return all(_is_plain(entry) for entry in value)
    # Half a character, which JSON can hold, has no form in UTF-8.
    return isinstance(value, int) or (isinstance(value, str) and not _HALVES.search(value))
