"""Who owns which path on the machine: one origin for each, and some that are nobody's but Slipway's."""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slipway.contract.errors import Violation
from slipway.contract.grammars import is_windows_path
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb

RESERVED = ("/etc/slipway", "/var/lib/slipway", "/run/cluster-api", "c:/run/cluster-api", "c:/programdata/slipway")
"""Folders that only Slipway writes to."""


@dataclass(frozen=True, slots=True)
class Owned:
    """An entry that claims a path."""

    path: str
    where: str
    origin: diagnosticpb.Origin
    append: bool


def comparable(path: str) -> str:
    """Give the form in which two paths of the same file are equal: Windows ignores case and the kind of slash."""
    return path.replace("\\", "/").lower() if is_windows_path(path) else path


def entries(os: ospb.OperatingSystem) -> Iterator[Owned]:
    """Give every entry that claims a path, in the order of the bundle."""
    for name in ("directories", "files", "links"):
        entry: Any
        for index, entry in enumerate(getattr(os, name)):
            append = name == "files" and entry.append
            yield Owned(comparable(entry.path), f"os.{name}[{index}]", entry.origin, append)
    if os.HasField("containerd"):
        yield Owned("/etc/containerd/config.toml", "os.containerd", os.containerd.origin, append=False)


def reserved(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every entry of a spec that lies in a folder that only Slipway writes to."""
    for entry in entries(os):
        if any(entry.path == folder or entry.path.startswith(folder + "/") for folder in RESERVED):
            remedy = "choose a path in another folder"
            yield Violation(f"{entry.where}.path", "lies in a folder that only Slipway writes to", remedy=remedy)


def collisions(os: ospb.OperatingSystem) -> Iterator[tuple[Owned, Owned]]:
    """Give every two entries that claim the same path. Appending to an earlier file is no claim."""
    first: dict[str, Owned] = {}
    for entry in entries(os):
        earlier = first.get(entry.path)
        if earlier is None:
            first[entry.path] = entry
        elif not entry.append:
            yield earlier, entry


def beneath_files(os: ospb.OperatingSystem) -> Iterator[tuple[Owned, Owned]]:
    """Give every file whose path is a folder of another entry, and the first such entry."""
    ordered = sorted(entries(os), key=lambda entry: entry.path)
    names = [entry.path for entry in ordered]
    for file in (entry for entry in ordered if entry.where.startswith("os.files[")):
        number = bisect_left(names, file.path + "/")
        if number < len(names) and names[number].startswith(file.path + "/"):
            yield file, ordered[number]


def describe(origin: diagnosticpb.Origin) -> str:
    """Name an origin to people: the document and the path, and who made the item of it."""
    place = f"{origin.document}: {origin.path}" if origin.document else origin.path or "Slipway"
    return f"{place} (through {', '.join(origin.made_by)})" if origin.made_by else place
