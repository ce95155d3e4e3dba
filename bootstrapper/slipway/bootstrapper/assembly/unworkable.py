"""Values that fit the contract's grammars and cannot work on any machine: the program that reads them takes none of it.

Sources: the tz database; systemd.syntax(7), by which an assignment before any section is ignored; sudoers(5), where a
file with a mistake is ignored as a whole, or ends sudo; hier(7), by which /dev, /proc and /sys hold no files of a disk.
"""

from collections.abc import Iterator
from functools import cache
from importlib.resources import files

import re2

from slipway.bootstrapper.assembly import paths
from slipway.contract.errors import Violation
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import os_pb2 as ospb

_COMMENTS = ("#", ";")
_OF_THE_KERNEL = ("/dev/", "/proc/", "/sys/")
_REGULAR = {
    "os.files": "choose another path; sysctls set what is below /proc/sys",
    "os.swaps": "choose another path; a device is swap by a mount of type swap",
}
"""Kinds of entries that must be regular files, and what to do about another one."""
_SECTION = re2.compile(r"\[[^\[\]]+\]")
_HOST = r"(?:!\s*)?[^\s=,:()!]+"
_RUN_AS = r"(?:\([^()]*\)\s*)?"
_OPTIONS = r"(?:[A-Z_]+\s*:\s*|[A-Z_]+\s*=\s*[^\s,]+\s+)*"
_COMMAND = r"(?:!\s*)?(?:sha[0-9]+\s*:.*)?(?:/.*|\^.*|ALL\b.*|[A-Z][A-Z0-9_]*\b.*|sudoedit\b.*|list\b.*)"
_RULE = re2.compile(rf"\s*{_HOST}(?:\s*,\s*{_HOST})*\s*=\s*{_RUN_AS}{_OPTIONS}{_RUN_AS}{_OPTIONS}{_COMMAND}")


def unworkable(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give the values of an operating system that cannot work, by their field paths from `os` on; none is repeated."""
    for entry in paths.entries(os):
        kind = entry.where.partition("[")[0]
        if kind in _REGULAR and entry.path.startswith(_OF_THE_KERNEL):
            why = "is no file of a disk: what lies there is the kernel's, and may be a device"
            yield Violation(f"{entry.where}.path", why, remedy=_REGULAR[kind])
    name = os.time_zone.name
    if name and name not in _zones():
        meant = did_you_mean(name, _zones())
        hint = f"; did you mean {meant}?" if meant else ""
        yield Violation("os.time_zone.name", f"is no zone of the tz database{hint}", remedy="write one of its names")
    for number, unit in enumerate(os.systemd_units):
        path = f"os.systemd_units[{number}]"
        texts = [(f"{path}.contents", unit.contents)]
        texts += [(f"{path}.drop_ins[{index}].contents", each.contents) for index, each in enumerate(unit.drop_ins)]
        for place, text in texts:
            if not _begins_with_section(text):
                yield Violation(
                    place, "does not begin with a section: systemd ignores it", remedy="write [Service] first"
                )
    for number, user in enumerate(os.users):
        for index, rule in enumerate(user.sudo):
            if not _RULE.fullmatch(rule):
                why = "is no rule of sudoers: sudo may ignore all of its file, or stop working"
                place = f"os.users[{number}].sudo[{index}]"
                yield Violation(place, why, remedy="write it as HOSTS=(USERS) COMMANDS, such as ALL=(ALL) NOPASSWD:ALL")


@cache
def _zones() -> frozenset[str]:
    return frozenset(files("tzdata").joinpath("zones").read_text(encoding="ascii").split())


def _begins_with_section(text: str) -> bool:
    """Return whether the first line that says something is the name of a section; a text that says nothing is fine."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(_COMMENTS)), None)
    return first is None or _SECTION.fullmatch(first) is not None
