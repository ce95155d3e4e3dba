"""Disks and mounts: cloud-init's disk_setup and mounts."""

import re
from collections.abc import Collection

from slipway.contract.paths import parents
from slipway.provisioners.cloud_init.document import Value
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_MBR_MOST = 4
# Options that say no more than a row without options.
_LEFT_OUT: tuple[list[str], ...] = ([], ["defaults", "nofail"])
_WHOLE = 100
# Codes of sgdisk and sfdisk; a GUID is passed as it is.
_TYPES: dict[str, Value] = {
    "linux": 83,
    "swap": 82,
    "raid": "fd",
    "lvm": "8e",
    "fat32": "0c",
    "ntfs": "07",
    "extended": "85",
}


def disk_setup(system: ospb.OperatingSystem, ctx: RenderContext) -> dict[str, Value]:
    """Give the key `disk_setup`."""
    disks: dict[str, Value] = {}
    for index, disk in enumerate(system.disks):
        path = f"os.disks[{index}]"
        problem = _problem(disk)
        if problem:
            ctx.refuse(path, "os.storage.disks", problem[0], remedy=problem[1])
            continue
        first = disk.partitions[:-1]
        rest = _WHOLE - sum(partition.percentage for partition in first)
        shares = [*(partition.percentage for partition in first), rest]
        layout = [_share(share, partition.type) for share, partition in zip(shares, disk.partitions, strict=True)]
        disks[disk.device] = {
            "table_type": "mbr" if disk.table_type == ospb.PARTITION_TABLE_TYPE_MBR else "gpt",
            "layout": True if layout == [_WHOLE] else layout,
            **({"overwrite": disk.overwrite} if disk.HasField("overwrite") else {}),
        }
    return disks


def _problem(disk: ospb.Disk) -> tuple[str, str] | None:
    """Give what is wrong with a disk, and what to do."""
    if not disk.partitions:
        return "cloud-init cannot make a partition table without partitions", "add a partition"
    if disk.table_type == ospb.PARTITION_TABLE_TYPE_MBR and len(disk.partitions) > _MBR_MOST:
        return "a DOS partition table has at most 4 partitions", "leave out tableType: GPT has more"
    *first, last = disk.partitions
    if not all(partition.percentage for partition in first):
        return "only the last partition may take the rest of the disk", "give the others a percentage"
    if sum(partition.percentage for partition in first) + max(last.percentage, 1) > _WHOLE:
        return "the partitions have more than 100 percent", "choose smaller percentages"
    if last.percentage and sum(partition.percentage for partition in disk.partitions) < _WHOLE:
        why = "cloud-init gives all that is left of the disk to the last partition, which has a smaller percentage"
        return why, "leave out the percentage of the last partition"
    return None


def _share(percentage: int, kind: str) -> Value:
    return [percentage, _TYPES.get(kind, kind)] if kind else percentage


def mounts(system: ospb.OperatingSystem, ctx: RenderContext, *, needed: Collection[str] = ()) -> list[Value]:
    """Give the key `mounts`. Whatever a row leaves out cloud-init fills in, and better than we could.

    To a row without options it gives "nofail" and, by its version, what keeps systemd from mounting before cloud-init
    itself has made the filesystem; to one without the last fields a check at boot.

    A mount that would hide one of the paths `needed` is refused: they are written before anything is mounted.
    """
    hidden = {folder for path in needed for folder in ("/", *parents(path))}
    rows: list[Value] = []
    folders = {mount.path.rstrip("/") for mount in system.mounts} - {""}
    for index, mount in enumerate(system.mounts):
        if re.search(r"[\s\\#]", mount.path):
            ctx.refuse(f"os.mounts[{index}]", "os.storage.mounts", "the path has a character that fstab escapes")
            continue
        if mount.path.startswith("/") and (mount.path.rstrip("/") or "/") in hidden:
            why = "cloud-init mounts it over what it has written for the bootstrap, which then never runs"
            ctx.refuse(f"os.mounts[{index}]", "os.storage.mounts", why, remedy="choose a mount point further below")
            continue
        if not folders.isdisjoint(parents(mount.path.rstrip("/"))):
            # cloud-init makes all folders, then mounts: this one's is hidden by then, and the mount fails in silence.
            ctx.refuse(f"os.mounts[{index}]", "os.storage.mounts", "the path is below another mount")
            continue
        row = [mount.source, mount.path]
        if mount.HasField("check") or list(mount.options) not in _LEFT_OUT:
            row += [mount.type or "auto", ",".join(mount.options) or "defaults"]
            row += ["0", "2" if mount.check else "0"] if mount.HasField("check") else []
        elif mount.type:
            row.append(mount.type)
        rows.append(row)
    return rows
