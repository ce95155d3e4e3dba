"""Mounts: lines of /etc/fstab for every later boot, and systemd's units of them for this one."""

import re
from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.linux.fstab import FstabEntry
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import refuse_read_only
from slipway.bootstrapper.lowering.runners.linux_file import ROOT as STATE
from slipway.contract.grammars import absolute_path
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.mounts"

_METADATA_NAME = re.compile(r"(ephemeral|ebs|ami|root)\d*(\.\d+)?")
_DEVICE_NAME = re.compile(r"(sd|vd|xvd|hd|nvme|dm-|md)[a-z0-9]+")
_IN_USE = frozenset(
    {"/", "/boot", "/dev", "/etc", "/proc", "/run", "/sys", "/usr", "/usr/bin", "/usr/lib", "/var", "/var/lib", STATE}
)


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write the lines and mount what is to be mounted, in one step."""
    entries = each(draft, items, lambda item: _entry(item, draft))
    calls = [["entry", *entry.key, entry.line()] for entry in entries]
    calls.append(["systemctl", "daemon-reload"])
    if any(entry.type == "swap" for entry in entries):
        calls.append(["swapon", "-a"])
    calls += [_start(entry) for entry in entries if entry.type != "swap" and "noauto" not in entry.options]
    text = script(calls, programs=["fstab"])
    draft.step(Rank.MOUNTS, "mounts", source=items[0].message, by=ID, script=text)


def _start(entry: FstabEntry) -> list[str]:
    suffix = "automount" if "x-systemd.automount" in entry.options else "mount"
    return ["tried" if "nofail" in entry.options else "mounted", entry.path, suffix]


def _entry(item: Item, draft: Draft) -> FstabEntry:
    mount: ospb.Mount = item.message
    if _METADATA_NAME.fullmatch(mount.source):
        raise CannotLower(
            item,
            "the source is a name that only the metadata of the infrastructure have",
            remedy="name the device, or its LABEL= or UUID=",
        )
    if mount.type != "swap":
        _check_path(item, draft)
    return FstabEntry(
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
