"""What a document says of disks, in words that belong to neither program, and which were written by hand.

What a mount means is left to systemd: a line of fstab is the unit that systemd's own generator makes of it.
"""

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from tests.oracles.generated_disks import MIB_OF_A_SHARE

Words = dict[str, Any]

_WHOLE = 100
_CODES = {"": "linux", "83": "linux", "82": "swap", "fd": "raid", "8e": "lvm"}
_GUIDS = {
    "": "linux",
    "0fc63daf-8483-4772-8e79-3d69d8477de4": "linux",
    "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f": "swap",
    "a19d880f-05fc-4d3b-a006-743f0f84911e": "raid",
    "e6d6d379-f507-44c2-a23c-238f2a3df928": "lvm",
}
# What says who wrote a line, and what is so anyway or said by the unit's target.
_NOISE = {"", "comment=cloudconfig", "defaults", "nobootwait", "nofail"}


def of_cloud_config(document: Mapping[str, Any]) -> Words:
    """Disks, filesystems and swap of a cloud-config."""
    return {
        "disks": {device: _disk_setup(one) for device, one in document["disk_setup"].items()},
        "filesystems": {one["device"]: _fs_setup(one) for one in document.get("fs_setup", ())},
        "swaps": {source for source, where, *_ in document["mounts"] if where == "none"},
    }


def of_ignition(config: Mapping[str, Any]) -> Words:
    """The same of an Ignition config."""
    storage = config["storage"]
    swaps = (unit for unit in config["systemd"]["units"] if unit["name"].endswith(".swap"))
    return {
        "disks": {disk["device"]: _disk(disk) for disk in storage["disks"]},
        "filesystems": {filesystem["device"]: _filesystem(filesystem) for filesystem in storage.get("filesystems", ())},
        "swaps": {_keys(swap["contents"])["What"] for swap in swaps if swap["enabled"]},
    }


def _disk_setup(one: Mapping[str, Any]) -> Words:
    entries = [_WHOLE] if one["layout"] is True else one["layout"]
    parts = [(*entry, "")[:2] if isinstance(entry, list) else (entry, "") for entry in entries]
    assert sum(share for share, _ in parts) == _WHOLE
    # The last one is what the others leave.
    shares = [*(share for share, _ in parts[:-1]), None]
    kinds = [_CODES.get(str(kind), str(kind).lower()) for _, kind in parts]
    return _table(one["table_type"], one.get("overwrite", False), zip(shares, kinds, strict=True))


def _disk(one: Mapping[str, Any]) -> Words:
    parts = one["partitions"]
    assert [part["number"] for part in parts] == list(range(1, len(parts) + 1))
    sizes = [part.get("sizeMiB") for part in parts]
    shares = [None if size is None else size / MIB_OF_A_SHARE for size in sizes]
    guids = [part.get("typeGuid", "").lower() for part in parts]
    return _table(
        "gpt", one.get("wipeTable", False), zip(shares, (_GUIDS.get(guid, guid) for guid in guids), strict=True)
    )


def _table(kind: str, overwrite: bool, parts: Iterable[tuple[float | None, str]]) -> Words:
    return {"table": kind, "overwrite": overwrite, "partitions": list(parts)}


def _fs_setup(one: Mapping[str, Any]) -> Words:
    assert one.get("partition", "none") == "none"  # The device is the partition.
    if "cmd" in one:
        assert not one.get("overwrite")
        return _made(one["filesystem"], one.get("label", ""), False, _options(one))
    options = list(one.get("extra_opts", ()))
    label = one.get("label", "")
    if one["filesystem"] == "vfat" and options[:1] == ["-n"]:
        assert not label  # mkfs.vfat does not know the option that cloud-init would say it by.
        label, options = options[1], options[2:]
    return _made(one["filesystem"], label, one["overwrite"], options)


def _options(one: Mapping[str, Any]) -> list[str]:
    """Those of a command that checks first: found=$(CHECK) && { { CONDITION; } || PROGRAM OPTIONS DEVICE; }."""
    check, program = one["cmd"].split(" || ")
    assert check == 'found=$(wipefs -n %(device)s) && { { [ -n "$found" ]; }'
    name, *words = shlex.split(program.removesuffix(" %(device)s; }"))
    kind = one["filesystem"]
    assert name == ("mkswap" if kind == "swap" else f"mkfs.{kind}")
    force = {"ext4": ["-F"], "xfs": ["-f"], "btrfs": ["-f"], "swap": ["-f"]}.get(kind, [])
    label = ["-n" if kind == "vfat" else "-L", one["label"]] if one.get("label") else []
    before = len(force) + len(label)
    assert words[:before] == [*force, *label]
    return words[before:]


def _filesystem(one: Mapping[str, Any]) -> Words:
    return _made(one["format"], one.get("label", ""), one.get("wipeFilesystem", False), one.get("options", []))


def _made(kind: str, label: str, overwrite: bool, options: list[str]) -> Words:
    return {"format": kind, "label": label, "overwrite": overwrite, "options": options}


def mount(unit: str, *, wanted_by: str = "", required_by: str = "") -> Words:
    """What a mount unit says; the last two are the targets that it is a part of, where its own text does not say so."""
    keys = _keys(unit)
    wanted, required = wanted_by or keys.get("WantedBy", ""), required_by or keys.get("RequiredBy", "")
    return {
        "what": keys["What"],
        "where": keys["Where"],
        "type": keys.get("Type", "auto"),
        "options": set(keys.get("Options", "").split(",")) - _NOISE,
        "target": wanted or required,
        "needed": bool(required),
        "checked": "systemd-fsck@" in keys.get("Requires", ""),
    }


def _keys(unit: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in unit.splitlines() if "=" in line)
