"""Who owns which path on the machine: one origin for each, and some that are reserved for Slipway."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.canonical_path import canonical, target_of
from slipway.contract.errors import Violation
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb

RESERVED = (
    "/etc/slipway",
    "/var/lib/slipway",
    "/run/slipway",
    "/run/cluster-api",
    "c:/run/cluster-api",
    "c:/programdata/slipway",
)
"""Folders that only Slipway writes to."""

_DECISIVE = 1200
"""Characters of a path that decide whether it is reserved: 64 times the longest name that leads to itself, and more."""

_UNITS = "os.systemd_units["

_REMEDY = "choose a path in another folder"
_OTHER_UNIT = "choose another name for the unit"

UNIT_FOLDER = "/etc/systemd/system"
"""Where units are written, by a first-boot system that takes them or by what they are lowered to."""

RESERVED_UNITS = tuple(f"{UNIT_FOLDER}/{name}" for name in ("slipway-bootstrap.service", "slipway-resume.service"))
"""Files that are Slipway's own units: a first-boot system may refuse a second one, or write it over the first."""


@dataclass(frozen=True, slots=True)
class Owned:
    """An entry that claims a path."""

    path: str
    where: str
    origin: diagnosticpb.Origin
    append: bool

    @property
    def is_unit(self) -> bool:
        """Whether it is a unit, or a drop-in of one."""
        return self.where.startswith(_UNITS)


def comparable(path: str) -> str:
    """Give the form in which two paths of the same file are equal."""
    return canonical(path)


def aliases(os: ospb.OperatingSystem) -> dict[str, str]:
    """Give the folders that have another name by the bundle itself: its links, and what it mounts at a second place."""
    places: dict[str, str] = {}
    # A hard link is no folder. A symbolic one may lie behind one that comes later, or below a mount.
    links = [link for link in os.links if not link.hard]
    _follow(links * 2, places)
    for mount in os.mounts:
        source = _shown_by(mount)
        place = canonical(mount.path, places)
        if source and source != place:
            places[place] = canonical(source, places)
    _follow(links, places)
    return places


def _follow(links: Iterable[ospb.Link], places: dict[str, str]) -> None:
    for link in links:
        place = _beside(link.path, places)
        target = canonical(target_of(place, link.target), places)
        if target != place:
            places[place] = target


def _shown_by(mount: ospb.Mount) -> str:
    """Give the folder that a mount shows at a second place, and that what is written there reaches; "" for none.

    mount(8): options come in one text with commas, or in several; `bind` may be the type, too.
    """
    options = [word for option in mount.options for word in option.split(",")]
    if mount.source.startswith("/") and not {"bind", "rbind"}.isdisjoint([*options, mount.type]):
        return canonical(mount.source)
    upper = next((word.removeprefix("upperdir=") for word in options if word.startswith("upperdir=/")), "")
    return canonical(upper) if mount.type == "overlay" and upper else ""


def entries(os: ospb.OperatingSystem, *, links: Mapping[str, str] | None = None) -> Iterator[Owned]:
    """Give every entry that claims a path, in the order of the bundle."""
    known = aliases(os) if links is None else links
    for name in ("directories", "files", "links"):
        entry: Any
        for index, entry in enumerate(getattr(os, name)):
            append = name == "files" and entry.append
            # A link is itself no way to another file; what lies above it may be.
            path = _beside(entry.path, known) if name == "links" else canonical(entry.path, known)
            yield Owned(path, f"os.{name}[{index}]", entry.origin, append)
    for index, swap in enumerate(os.swaps):
        yield Owned(canonical(swap.path, known), f"os.swaps[{index}]", swap.origin, append=False)
    if os.HasField("containerd"):
        yield Owned("/etc/containerd/config.toml", "os.containerd", os.containerd.origin, append=False)
    yield from _units(os)


def _units(os: ospb.OperatingSystem) -> Iterator[Owned]:
    """Give the files that units and their drop-ins are, and the links to nothing that masked ones are."""
    for index, unit in enumerate(os.systemd_units):
        where = f"os.systemd_units[{index}]"
        if unit.contents or unit.masked:
            yield Owned(f"{UNIT_FOLDER}/{unit.name}", where, unit.origin, append=False)
        for number, drop_in in enumerate(unit.drop_ins):
            path = f"{UNIT_FOLDER}/{unit.name}.d/{drop_in.name}"
            yield Owned(path, f"{where}.drop_ins[{number}]", unit.origin, append=False)


def _beside(path: str, links: Mapping[str, str]) -> str:
    form = canonical(path)
    folder, _, name = form.rpartition("/")
    return f"{canonical(folder, links).rstrip('/')}/{name}" if folder else form


def is_reserved(path: str) -> bool:
    """Whether a canonical path is that of a folder that only Slipway writes to, or in one.

    On Windows a path that begins with a slash is one of the system's drive.
    """
    forms = (path, canonical(f"c:{path[:_DECISIVE]}")) if path.startswith("/") else (path,)
    return any(form == folder or form.startswith(f"{folder}/") for form in forms for folder in RESERVED)


def reserved(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every entry of a spec that lies in a folder that only Slipway writes to, or makes another way to one."""
    violations: dict[str, Violation] = {}
    # What is bound over a folder above hides its name, and is where Slipway's own files are then.
    for known in (aliases(os), {}):
        for entry in entries(os, links=known):
            if is_reserved(entry.path):
                why = "lies in a folder that only Slipway writes to"
                violations.setdefault(entry.where, Violation(f"{entry.where}.path", why, remedy=_REMEDY))
            if entry.path in RESERVED_UNITS and not entry.is_unit:
                why = "is the unit of the service that bootstraps the machine, which only Slipway writes"
                violations.setdefault(entry.where, Violation(f"{entry.where}.path", why, remedy=_OTHER_UNIT))
        for where, path in _further(os, known):
            if is_reserved(path):
                why = "names a folder that only Slipway writes to"
                violations.setdefault(where, Violation(where, why, remedy=_REMEDY))
    yield from violations.values()


def reserved_fields(message: Message, path: str) -> Iterator[Violation]:
    """Give every field of a message that holds an absolute path to a folder that only Slipway writes to."""
    fields = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = fields[descriptor.number]
        for index, entry in enumerate(value if field.repeated else [value]):
            where = f"{path}.{field.name}[{index}]" if field.repeated else f"{path}.{field.name}"
            if isinstance(entry, Message):
                yield from reserved_fields(entry, where)
            elif field.rules.format == "absolute-path" and is_reserved(canonical(entry)):
                yield Violation(where, "names a folder that only Slipway writes to", remedy=_REMEDY)


def _further(os: ospb.OperatingSystem, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Give the other paths of an operating system that something is written to, or read through, as they really are."""
    for index, link in enumerate(os.links):
        yield f"os.links[{index}].target", canonical(target_of(_beside(link.path, known), link.target), known)
    for index, user in enumerate(os.users):
        if user.home:
            yield f"os.users[{index}].home", canonical(user.home, known)
    for index, mount in enumerate(os.mounts):
        where = f"os.mounts[{index}]"
        if mount.path.startswith("/"):
            yield f"{where}.path", _beside(mount.path, known)
        values = [("source", mount.source)]
        values += [
            (f"options[{number}]", word.partition("=")[2])
            for number, option in enumerate(mount.options)
            for word in option.split(",")
        ]
        yield from ((f"{where}.{name}", canonical(value, known)) for name, value in values if value.startswith("/"))


def collisions(
    os: ospb.OperatingSystem, *, units: bool = True, others: Iterable[Owned] = ()
) -> Iterator[tuple[Owned, Owned]]:
    """Give every two entries that claim the same path. Appending to an earlier file is no claim.

    Args:
        os: the operating system.
        units: units and their drop-ins claim the paths of their files, too.
        others: entries from elsewhere, which come first.
    """
    first: dict[str, Owned] = {}
    for entry in chain(others, (entry for entry in entries(os) if units or not entry.is_unit)):
        earlier = first.get(entry.path)
        if earlier is None:
            first[entry.path] = entry
        elif not entry.append:
            yield earlier, entry


def beneath_files(os: ospb.OperatingSystem, *, units: bool = True) -> Iterator[tuple[Owned, Owned]]:
    """Give every file whose path is a folder of another entry, and the first such entry; `units` as in collisions()."""
    ordered = sorted((entry for entry in entries(os) if units or not entry.is_unit), key=lambda entry: entry.path)
    names = [entry.path for entry in ordered]
    for file in (entry for entry in ordered if entry.where.startswith("os.files[")):
        number = bisect_left(names, file.path + "/")
        if number < len(names) and names[number].startswith(file.path + "/"):
            yield file, ordered[number]


def describe(origin: diagnosticpb.Origin) -> str:
    """Name an origin to people: the document and the path, and who made the item of it."""
    place = f"{origin.document}: {origin.path}" if origin.document else origin.path or "Slipway"
    return f"{place} (through {', '.join(origin.made_by)})" if origin.made_by else place
