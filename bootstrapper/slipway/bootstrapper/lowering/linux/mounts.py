"""Mounts and swap files: lines of /etc/fstab for every later boot, and what systemd does by them on this one.

systemd's own generator reads /etc/fstab on every distribution, image-based ones too, and knows all options that people
write (nofail, x-systemd.*, _netdev), which a mount unit would have to be translated from. Source: fstab(5),
systemd-fstab-generator(8).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import refuse_read_only
from slipway.bootstrapper.lowering.runners.linux_file import ROOT as STATE
from slipway.contract.grammars import absolute_path
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

_ESCAPES = {"\\": "\\134", " ": "\\040", "\t": "\\011", "\n": "\\012"}

MOUNTS = "linux.mounts"

_METADATA_NAME = re.compile(r"(ephemeral|ebs|ami|root)\d*(\.\d+)?")
_DEVICE_NAME = re.compile(r"(sd|vd|xvd|hd|nvme|dm-|md)[a-z0-9]+")
_IN_USE = frozenset(
    {"/", "/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/usr", "/usr/bin", "/usr/lib", "/var", "/var/lib", STATE}
)

SWAP = "linux.swap"


@dataclass(frozen=True, slots=True, kw_only=True)
class _FstabEntry:
    """One line: what, where, of which kind, with which options."""

    source: str
    path: str
    type: str = "auto"
    options: Sequence[str] = ()
    check: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """The field that identifies the line, by number, and its value: mount point, or device of swap space."""
        return ("1", _escaped(self.source)) if self.type == "swap" else ("2", _escaped(self.path))

    def line(self) -> str:
        """Give the line without its end."""
        options = ",".join(self.options) or "defaults"
        words = [self.source, self.path, self.type, options]
        return " ".join([*(_escaped(word) for word in words), "0", "2" if self.check else "0"])


def _escaped(word: str) -> str:
    """Give a word as fstab(5) wants it. A leading # would make the line a comment."""
    text = "".join(_ESCAPES.get(char, char) for char in word)
    return f"\\043{text[1:]}" if text.startswith("#") else text


def lower_mounts(items: Sequence[Item], draft: Draft) -> None:
    """Write the lines and mount what is to be mounted, in one step."""
    entries = each(draft, items, lambda item: _entry(item, draft))
    calls = [["entry", *entry.key, entry.line()] for entry in entries]
    calls.append(["systemctl", "daemon-reload"])
    if any(entry.type == "swap" for entry in entries):
        calls.append(["swapon", "-a"])
    calls += [_start(entry) for entry in entries if entry.type != "swap" and "noauto" not in entry.options]
    text = script(calls, programs=["fstab"])
    draft.step(Rank.MOUNTS, "mounts", source=items[0].message, by=MOUNTS, script=text)


def _start(entry: _FstabEntry) -> list[str]:
    suffix = "automount" if "x-systemd.automount" in entry.options else "mount"
    return ["tried" if "nofail" in entry.options else "mounted", entry.path, suffix]


def _entry(item: Item, draft: Draft) -> _FstabEntry:
    mount: ospb.Mount = item.message
    if _METADATA_NAME.fullmatch(mount.source):
        raise CannotLower(
            item,
            "the source is a name that only the metadata of the infrastructure have",
            remedy="name the device, or its LABEL= or UUID=",
        )
    if mount.type != "swap":
        _check_path(item, draft)
    return _FstabEntry(
        source=f"/dev/{mount.source}" if _DEVICE_NAME.fullmatch(mount.source) else mount.source,
        path=mount.path,
        type=mount.type or "auto",
        options=mount.options,
        check=mount.check,
    )


def _check_path(item: Item, draft: Draft) -> None:
    path: str = item.message.path
    if path.rstrip("/") in {place.rstrip("/") for place in _IN_USE}:
        raise CannotLower(
            item,
            "mounted this late, it would hide what the system and Slipway itself run from",
            remedy="choose a first-boot system that mounts natively, or a mount point further below",
        )
    if not absolute_path(path) or not path.startswith("/"):
        raise CannotLower(item, "the mount point is no absolute path", remedy="write a path that starts with /")
    refuse_read_only(item, draft)


def lower_swaps(items: Sequence[Item], draft: Draft) -> None:
    """Make the files in one step and turn them on."""
    calls: list[list[str]] = []
    for item in items:
        entry = _FstabEntry(source=item.message.path, path="none", type="swap")
        calls.append(["swap", item.message.path, str(item.message.size_mib)])
        calls.append(["entry", *entry.key, entry.line()])
    calls += [["systemctl", "daemon-reload"], ["swapon", "-a"]]
    text = script(calls, programs=["fstab", "swap"])
    draft.step(Rank.SWAP, "swap", source=items[0].message, by=SWAP, script=text)
