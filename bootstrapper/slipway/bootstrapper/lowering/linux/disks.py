"""Disks and filesystems: made by the system's own programs, and only where nothing is unless the spec says so.

sfdisk(8) makes the tables, mkfs(8) and mkswap(8) the filesystems; wipefs(8) shows what is there. The OS profile says
which kinds of filesystems a distribution has programs for.
"""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

DISKS = "linux.disks"
FILESYSTEMS = "linux.filesystems"

_MBR_MOST = 4
_WHOLE = 100
# Kind of partition -> its GUID in a GPT and its code in a DOS table, as sfdisk takes them.
_TYPES = {
    "linux": ("0FC63DAF-8483-4772-8E79-3D69D8477DE4", "83"),
    "swap": ("0657FD6D-A4AB-43C4-84E5-0933C84B4F4F", "82"),
    "raid": ("A19D880F-05FC-4D3B-A006-743F0F84911E", "fd"),
    "lvm": ("E6D6D379-F507-44C2-A23C-238F2A3DF928", "8e"),
    "fat32": ("EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", "c"),
    "ntfs": ("EBD0A0A2-B9E5-4433-87C0-68B6B72699C7", "7"),
}
# The option for a label is -L, but for these.
_LABEL_OPTIONS = {"vfat": "-n", "f2fs": "-l"}
# What lets a program work without a question. The device was checked before.
_FORCE = {"ext2": "-F", "ext3": "-F", "ext4": "-F", "btrfs": "-f", "xfs": "-f", "swap": "-f", "f2fs": "-f"}
_EVERY = ("btrfs", "ext2", "ext3", "ext4", "f2fs", "swap", "vfat", "xfs")


def lower_disks(items: Sequence[Item], draft: Draft) -> None:
    """Make the tables in one step."""
    calls = each(draft, items, lambda item: _table(item, draft))
    text = script(calls, programs=["disks"])
    draft.step(Rank.DISKS, "disks", source=items[0].message, by=DISKS, script=text)


def lower_filesystems(items: Sequence[Item], draft: Draft) -> None:
    """Make the filesystems in one step."""
    calls = each(draft, items, lambda item: _filesystem(item, draft))
    text = script(calls, programs=["disks"])
    draft.step(Rank.FILESYSTEMS, "filesystems", source=items[0].message, by=FILESYSTEMS, script=text)


def _programs(item: Item, draft: Draft) -> Sequence[str]:
    """Give the kinds of filesystems that the machine has programs for.

    Where no distribution is stated, or an imported config's has no profile, the machine finds out: the step stops
    at a program that is not there.
    """
    if not draft.target.distribution or draft.is_imported_without_profile:
        return _EVERY
    return needed(draft.profile.filesystems, item)


def _table(item: Item, draft: Draft) -> list[str]:
    disk: ospb.Disk = item.message
    _programs(item, draft)
    _check_device(item)
    mbr = disk.table_type == ospb.PARTITION_TABLE_TYPE_MBR
    if mbr and len(disk.partitions) > _MBR_MOST:
        why = "a DOS partition table has at most 4 partitions"
        raise CannotLower(item, why, remedy="leave out tableType: GPT has more")
    _check_rest(item)
    kinds = [_kind(item, index, mbr=mbr) for index in range(len(disk.partitions))]
    sizes = [_size(partition) for partition in disk.partitions]
    if sizes and sum(partition.percentage for partition in disk.partitions) == _WHOLE:
        sizes[-1] = ""
    partitions = [f"{size},{kind}" for size, kind in zip(sizes, kinds, strict=True)]
    return ["table", disk.device, "x" if disk.overwrite else "", "dos" if mbr else "gpt", *partitions]


def _check_rest(item: Item) -> None:
    if any(not _size(partition) for partition in item.message.partitions[:-1]):
        why = "only the last partition may take the rest of the disk"
        raise CannotLower(item, why, remedy="give the others a size in sizeMib")


def _size(partition: ospb.Partition) -> str:
    if partition.HasField("percentage"):
        return f"{partition.percentage}%"
    return str(partition.size_mib) if partition.size_mib else ""


def _kind(item: Item, index: int, *, mbr: bool) -> str:
    partition: ospb.Partition = item.message.partitions[index]
    kind = partition.type or "linux"
    if kind == "extended" or (mbr and kind not in _TYPES):
        why = "a partition has a type that this kind of partition table does not have"
        raise CannotLower(item, why, remedy="choose another type", fields=[f"partitions[{index}].type"])
    if partition.label and (mbr or '"' in partition.label or "\\" in partition.label):
        why = "a DOS partition table has no labels" if mbr else "a partition's label has a quote or a backslash"
        raise CannotLower(item, why, remedy="leave the label out", fields=[f"partitions[{index}].label"])
    code = _TYPES[kind][mbr] if kind in _TYPES else kind.upper()
    return f'type={code},name="{partition.label}"' if partition.label else f"type={code}"


def _filesystem(item: Item, draft: Draft) -> list[str]:
    filesystem: ospb.Filesystem = item.message
    kind = filesystem.format
    kinds = _programs(item, draft)
    _check_device(item)
    if kind not in kinds:
        why = "the distribution has no program that makes this kind of filesystem"
        raise CannotLower(item, why, remedy=f"choose one of {', '.join(kinds)}")
    words = ["mkswap" if kind == "swap" else f"mkfs.{kind}"]
    words += [_FORCE[kind]] if kind in _FORCE else []
    words += [_LABEL_OPTIONS.get(kind, "-L"), filesystem.label] if filesystem.label else []
    overwrite = "x" if filesystem.overwrite else ""
    return ["filesystem", filesystem.device, overwrite, filesystem.replace_format, *words, *filesystem.options]


def _check_device(item: Item) -> None:
    if not item.message.device.startswith("/dev/"):
        why = "the device is no path in /dev"
        raise CannotLower(item, why, remedy="name the device by its path in /dev")
