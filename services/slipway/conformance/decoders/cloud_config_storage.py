"""Disks, filesystems, mounts and swap of a cloud-config."""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from slipway.conformance.decoders.sight import UnreadableError
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import os_pb2 as ospb

_SEARCH = "ext.cloud-init.slipway.dev/partition-search"
_SIZE = re.compile(r"(\d+)([KMGT]?)B?")
_LABEL_OPTIONS = {"mkfs.vfat": "-n", "mkfs.fat": "-n", "mkfs.msdos": "-n", "mkfs.f2fs": "-l"}
_TYPES = {"83": "linux", "82": "swap", "fd": "raid", "8e": "lvm", "0c": "fat32", "07": "ntfs", "85": "extended"}


def storage(document: dict[str, Any], system: ospb.OperatingSystem) -> None:
    """Add disks, filesystems, mounts and swap to a system."""
    for device, disk in document.get("disk_setup", {}).items():
        made = system.disks.add(device=device, overwrite=disk.get("overwrite", False))
        mbr = disk.get("table_type", "mbr") == "mbr"
        made.table_type = ospb.PARTITION_TABLE_TYPE_MBR if mbr else ospb.PARTITION_TABLE_TYPE_GPT
        layout = disk.get("layout")
        for part in [100] if layout is True else layout or []:
            share, kind = part if isinstance(part, list) else (part, "")
            made.partitions.add(percentage=share, type=_TYPES.get(str(kind).lower(), str(kind)))
    for entry in document.get("fs_setup", []):
        _filesystem(entry, system)
    for row in document.get("mounts", []):
        fields = [*map(str, row), *[""] * 6][:6]
        mount = system.mounts.add(source=fields[0], path=fields[1], type=fields[2])
        # Source: the key mount_default_fields.
        mount.options.extend(fields[3].split(",") if fields[3] else ["defaults", "nofail"])
        mount.check = int(fields[5] or 2) > 0
    if document.get("swap"):
        system.swaps.add(path=document["swap"]["filename"], size_mib=_mib(str(document["swap"]["size"])))


def _filesystem(entry: dict[str, Any], system: ospb.OperatingSystem) -> None:
    filesystem = system.filesystems.add(device=entry["device"], format=entry["filesystem"])
    filesystem.label = entry.get("label", "") if "cmd" not in entry else ""
    # cloud-init's own way to mkfs checks too little to leave alone what is there; a command that checks does.
    filesystem.overwrite = "cmd" not in entry
    if "replace_fs" in entry:
        filesystem.replace_format = entry["replace_fs"]
    if "cmd" in entry and entry.get("replace_fs"):
        _check_replaced(entry["cmd"], entry["replace_fs"])
    program = f"mkfs.{filesystem.format}"
    if "cmd" in entry:
        program, words = _made_with(entry["cmd"])
    elif filesystem.label and program in _LABEL_OPTIONS:
        raise UnreadableError("cloud-init gives the option -L for a label to a program that has another one")
    else:
        words = list(entry.get("extra_opts", []))
    if words[:1] == [_LABEL_OPTIONS.get(program, "-L")] and ("cmd" in entry or program in _LABEL_OPTIONS):
        filesystem.label, words = words[1], words[2:]
    filesystem.options.extend(words)


def searches(document: dict[str, Any]) -> Iterator[statepb.Other]:
    """Give the filesystems of which cloud-init chooses the partition, which nothing but its own extension asks for."""
    words = ("device", "filesystem", "label", "partition")
    entries = [
        {"partition": "any" if "." not in entry["device"] else "none", **entry}
        for entry in document.get("fs_setup", [])
    ]
    searched = [
        {word: str(entry[word]) for word in words if entry.get(word)}
        for entry in entries
        if str(entry["partition"]) != "none"
    ]
    if searched:
        yield statepb.Other(name=_SEARCH, text=json.dumps(searched, ensure_ascii=False))


def _mib(size: str) -> int:
    """Give a size of cloud-init in MiB: without a letter it is in bytes."""
    match = _SIZE.fullmatch(size.upper())
    if match is None:
        raise ValueError("it is no size")
    return int(match[1]) * (1 << 10 * ("KMGT".find(match[2]) + 1 if match[2] else 0)) >> 20


def _made_with(command: str) -> tuple[str, list[str]]:
    """Give the program that the last command of a checked entry runs, and its options, less the one that forces it."""
    made = command.rpartition(" || ")[2].removesuffix(" %(device)s; }")
    if "%" in made.replace("%%", ""):
        raise UnreadableError("a command of fs_setup has a percent sign that cloud-init takes for its own")
    program, *words = shlex.split(made.replace("%%", "%"))
    return program, words[1:] if words[:1] in (["-F"], ["-f"]) else words


def _check_replaced(command: str, kind: str) -> None:
    """See that the guard of a command keeps what is of another kind than the one that may be replaced.

    Raises:
        UnreadableError: it does not, or not in a form that is known here.
    """
    words = shlex.split(command.rpartition(" || ")[0].replace("%%", "%"))
    pairs = list(pairwise(words))
    if ("!=", kind) not in pairs or any(operator in ("=", "==") for operator, _ in pairs):
        raise UnreadableError("a command of fs_setup does not keep what is of another kind than replace_fs")
