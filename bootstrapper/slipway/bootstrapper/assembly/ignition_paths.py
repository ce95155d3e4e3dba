"""The paths of a config of Ignition's in an extension, held to the same rules as those of the spec itself.

Ignition merges such a config into the machine's own, so its entries and links act like the spec's. What is no config is
left to the provisioner, which refuses it. What only a Secret or another server holds cannot be looked into here.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from slipway.bootstrapper.assembly import entry_point_files, paths
from slipway.contract.bounded_json import read_json
from slipway.contract.content import normal_segments
from slipway.contract.errors import Violation
from slipway.contract.grammars import MOST_PATH_PARTS
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

EXTENSION = "ignition.slipway.dev/config"
_MOST_VALUES = 100_000
_MOST_ENTRIES = 1000
"""Of one list, more than a spec has: each path is followed through the links."""
_LISTS = (
    *(("storage", name) for name in ("directories", "files", "filesystems", "links")),
    ("passwd", "users"),
    ("systemd", "units"),
)
_ENTRY = re.compile(r"os\.(\w+)\[(\d+)\]")


@dataclass
class _Merged:
    """What a config adds to an operating system; `places` are the places in the config by field path."""

    os: ospb.OperatingSystem
    places: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, place: str) -> None:
        """Note where the last entry of a list comes from."""
        self.places[f"os.{kind}[{len(getattr(self.os, kind)) - 1}]"] = place


def violations(os: ospb.OperatingSystem, extensions: Sequence[specpb.Extension]) -> Iterator[Violation]:
    """Give every entry of such a config that lies in a folder, or has the path of a file, that only Slipway writes."""
    for index, extension in enumerate(extensions):
        config = _config(extension) if extension.id == EXTENSION else None
        if config is None:
            continue
        where = f"extensions[{index}].content"
        if any(len(_list(config, *names)) > _MOST_ENTRIES for names in _LISTS):
            why = f"has a list of more than {_MOST_ENTRIES} entries, whose paths cannot all be checked"
            yield Violation(where, why, remedy="divide the config")
            continue
        merged = _merged(os, config)
        known = {each.path for each in chain(paths.reserved(os), entry_point_files.violations(os))}
        for each in chain(paths.reserved(merged.os), entry_point_files.violations(merged.os)):
            match = _ENTRY.match(each.path)
            place = merged.places.get(match[0], "") if match else ""
            if place:
                yield Violation(where, f"{place} {each.description}", remedy=each.remedy)
            elif each.path not in known:
                yield each  # A link of the config leads there.


def _config(extension: specpb.Extension) -> dict[str, Any] | None:
    """Read a config; what is known later only, such as a Secret, is no name of a path."""
    pieces = (segment.data or segment.text.encode() or b"0" for segment in normal_segments(extension.content))
    try:
        config: object = read_json(b"".join(pieces), most_values=_MOST_VALUES)
    except ValueError:
        return None
    return config if isinstance(config, dict) else None


def _merged(os: ospb.OperatingSystem, config: dict[str, Any]) -> _Merged:
    """Add a config's entries to those of the spec: links of each lead entries of the other elsewhere."""
    merged = _Merged(ospb.OperatingSystem())
    merged.os.CopyFrom(os)
    for kind in ("directories", "files", "links"):
        for place, entry in _entries(config, "storage", kind):
            added = getattr(merged.os, kind).add(path=_path(entry.get("path")))
            if kind == "links":
                added.target, added.hard = _text(entry.get("target")), entry.get("hard") is True
            merged.note(kind, place)
    for place, entry in _entries(config, "storage", "filesystems"):
        mount = entry.get("mount")
        # Spec 2 has a name for a path, spec 3 the path itself.
        merged.os.mounts.add(path=_path(entry.get("path") or (mount.get("path") if isinstance(mount, dict) else "")))
        merged.note("mounts", place)
    for place, entry in _entries(config, "passwd", "users"):
        merged.os.users.add(home=_path(entry.get("homeDir")))
        merged.note("users", place)
    for place, entry in _entries(config, "systemd", "units"):
        unit = f"{paths.UNIT_FOLDER}/{_text(entry.get('name'))}"
        drop_ins = entry.get("dropins")
        names = [each.get("name") for each in drop_ins if isinstance(each, dict)] if isinstance(drop_ins, list) else []
        for path in (unit, *(f"{unit}.d/{_text(name)}" for name in names)):
            merged.os.files.add(path=_path(path))
            merged.note("files", place)
    return merged


def _entries(config: dict[str, Any], section: str, name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for index, entry in enumerate(_list(config, section, name)):
        if isinstance(entry, dict):
            yield f"{section}.{name}[{index}]", entry


def _list(config: dict[str, Any], section: str, name: str) -> list[Any]:
    part = config.get(section)
    entries = part.get(name) if isinstance(part, dict) else None
    return entries if isinstance(entries, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _path(value: object) -> str:
    """Give a path as far as it can name such a folder, or a link on the way to one."""
    path = _text(value)
    return "/".join(posixpath.normpath(path).split("/")[: MOST_PATH_PARTS + 1]) if path.startswith("/") else ""
