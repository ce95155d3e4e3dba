"""Disks, filesystems, and mounts. Ignition mounts only while it runs, so every mount is a unit as well."""

import posixpath
from collections.abc import Collection

from slipway.contract.paths import is_partition
from slipway.provisioners.ignition.document import Disk, Filesystem, Partition, Unit
from slipway.provisioners.ignition.unit_files import escaped_path, is_value, unit_file
from slipway.provisioners.ignition.units import FOLDER
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_TYPES = {
    "linux": "0FC63DAF-8483-4772-8E79-3D69D8477DE4",
    "swap": "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F",
    "raid": "A19D880F-05FC-4D3B-A006-743F0F84911E",
    "lvm": "E6D6D379-F507-44C2-A23C-238F2A3DF928",
    "fat32": "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
    "ntfs": "EBD0A0A2-B9E5-4433-87C0-68B6B72699C7",
}
# Formats with the longest label of each, in bytes. Ignition itself takes one more for btrfs, which mkfs.btrfs does not.
_FORMATS = {"ext4": 16, "btrfs": 255, "xfs": 12, "vfat": 11, "swap": 15}
_DEVICE = "name the device by its path in /dev"
_TAGS = {"LABEL": "label", "UUID": "uuid", "PARTLABEL": "partlabel", "PARTUUID": "partuuid"}
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "ceph", "glusterfs", "9p"})


def disks(system: ospb.OperatingSystem, ctx: RenderContext, *, spec2: bool) -> list[Disk]:
    """Give the partition tables; the rules for labels are those of spec 3."""
    made = []
    for index, disk in enumerate(system.disks):
        problem = _disk_problem(disk) or (None if spec2 else _label_problem(disk))
        if problem:
            ctx.refuse(f"os.disks[{index}]", "os.storage.disks", problem[0], remedy=problem[1])
            continue
        partitions = [
            Partition(
                number=number,
                label=partition.label or None,
                size_mib=partition.size_mib or None,
                type_guid=_TYPES.get(partition.type, partition.type.upper()) or None,
            )
            for number, partition in enumerate(disk.partitions, start=1)
        ]
        made.append(Disk(device=disk.device, wipe_table=disk.overwrite or None, partitions=partitions))
    return made


def _disk_problem(disk: ospb.Disk) -> tuple[str, str] | None:
    """Give what is wrong with a disk, and what to do."""
    if not disk.device.startswith("/dev/"):
        return "the device must be a path", _DEVICE
    if not disk.overwrite:
        # It looks for no filesystem: one that is on the whole disk would be lost.
        return "Ignition does not leave alone what is on a disk without a partition table", "set overwrite"
    if not disk.partitions:
        return "Ignition cannot make a partition table without partitions", "add a partition"
    if any(partition.type == "extended" for partition in disk.partitions):
        return "a GPT has no extended partitions", "choose another type: a GPT needs no extended one"
    if not all(partition.size_mib for partition in disk.partitions[:-1]):
        return "only the last partition may take the rest of the disk", "give the others a size in sizeMib"
    return None


def _label_problem(disk: ospb.Disk) -> tuple[str, str] | None:
    """Give what spec 3 refuses of labels; source: coreos/ignition v2.26.0, config/v3_4/types/{disk,partition}.go."""
    labels = [partition.label for partition in disk.partitions if partition.label]
    if len(set(labels)) < len(labels):
        return "Ignition takes each label of a partition once", "give each partition of the disk a label of its own"
    if any(":" in label for label in labels):
        return "Ignition takes no colon in the label of a partition", "choose a label without colons"
    return None


class Filesystems:
    """The filesystems, and which mounts are theirs."""

    def __init__(self, system: ospb.OperatingSystem, ctx: RenderContext, *, spec2: bool) -> None:
        """Match mounts with filesystems: Ignition itself writes to those that it makes."""
        self._system = system
        paths: dict[int, str] = {}
        self.late: dict[str, str] = {}
        for position, mount in enumerate(system.mounts):
            index = self._index_of(mount.source)
            if not mount.path.startswith("/"):
                continue
            # What is written another way is the same folder, and spec 3 takes the shortest form only.
            shortest = posixpath.normpath("/" + mount.path.lstrip("/"))
            if index is None or index in paths:
                self.late.setdefault(shortest, f"os.mounts[{position}]")
            else:
                paths[index] = shortest
        self._spec2 = spec2
        self._devices: set[str] = set()
        self.made = [
            self._filesystem(filesystem, paths.get(index))
            for index, filesystem in enumerate(system.filesystems)
            if not self._refused(filesystem, ctx, f"os.filesystems[{index}]")
        ]

    def _index_of(self, source: str) -> int | None:
        for index, filesystem in enumerate(self._system.filesystems):
            names = {filesystem.device}
            if filesystem.label:
                names |= {f"LABEL={filesystem.label}", f"/dev/disk/by-label/{filesystem.label}"}
            if source in names:
                return index
        return None

    def _refused(self, filesystem: ospb.Filesystem, ctx: RenderContext, path: str) -> bool:
        if filesystem.format not in _FORMATS:
            formats = ", ".join(sorted(_FORMATS))
            ctx.refuse(path, "os.storage.filesystems", f"Ignition makes only {formats}", remedy="choose one of these")
        elif len(filesystem.label.encode()) > _FORMATS[filesystem.format]:
            remedy = f"choose a label of at most {_FORMATS[filesystem.format]} bytes"
            why = "has a label that is too long for this kind of filesystem"
            ctx.refuse(path, "os.storage.filesystems.label", why, remedy=remedy)
        elif not filesystem.device.startswith("/dev/"):
            ctx.refuse(path, "os.storage.filesystems", "the device must be a path", remedy=_DEVICE)
        elif not (filesystem.overwrite or is_partition(filesystem.device)):
            # It does not look for a partition table: one that is on the device would be lost.
            why = "Ignition does not leave alone what is on a disk that is not a partition"
            ctx.refuse(path, "os.storage.filesystems", why, remedy="set overwrite, or name a partition")
        elif filesystem.device in self._devices and not self._spec2:
            why = "is on the device of an earlier one, which Ignition refuses"
            ctx.refuse(path, "os.storage.filesystems", why, remedy="leave out one of them")
        else:
            self._devices.add(filesystem.device)
            return False
        return True

    def _filesystem(self, filesystem: ospb.Filesystem, path: str | None) -> Filesystem:
        return Filesystem(
            device=filesystem.device,
            format=filesystem.format,
            path=None if filesystem.format == "swap" else path,
            label=filesystem.label or None,
            wipe_filesystem=filesystem.overwrite or None,
            options=list(filesystem.options) or None,
        )


def mount_units(
    system: ospb.OperatingSystem, ctx: RenderContext, *, names: Collection[str], reserved: Collection[str] | None
) -> list[Unit]:
    """Give a .mount or .swap unit for every mount.

    Args:
        system: the operating system.
        ctx: where refusals go.
        names: names that units have already.
        reserved: paths of files and folders, which spec 3 takes for no unit; None in spec 2, which takes all.
    """
    units: list[Unit] = []
    known = set(names)
    for index, mount in enumerate(system.mounts):
        what = _what(mount.source)
        swap = mount.type == "swap"
        problem = _mount_problem(mount, what)
        if problem:
            ctx.refuse(f"os.mounts[{index}]", "os.storage.mounts", problem)
            continue
        name = f"{escaped_path(what)}.swap" if swap else f"{escaped_path(mount.path)}.mount"
        if name in known or (reserved is not None and f"{FOLDER}/{name}" in reserved):
            ctx.refuse(f"os.mounts[{index}]", "os.storage.mounts", "has the unit of another entry")
            continue
        if reserved is not None:
            known.add(name)
        units.append(Unit(name=name, enabled=True, contents=_swap(mount, what) if swap else _mount(mount, what)))
    return units


def _mount_problem(mount: ospb.Mount, what: str) -> str:
    if any(option == "noauto" or option.startswith("x-systemd.") for option in mount.options):
        return "a unit does not know noauto and x-systemd options"
    if mount.path.startswith("/") == (mount.type == "swap"):
        return "only swap has no path, and swap has none"
    values = (what, mount.path, mount.type, ",".join(mount.options))
    if "\\" in mount.source or not all(is_value(value) for value in values):
        return "has characters that a unit cannot hold"
    return ""


def _what(source: str) -> str:
    """Give a source as a path where it has one, since a unit is named after it.

    udev keeps what is beyond ASCII. Source: encode_devnode_name of systemd's device-nodes.c.
    """
    tag, separator, value = source.partition("=")
    if not separator or tag not in _TAGS:
        return source
    kept = "".join(
        char if char.isalnum() or not char.isascii() or char in "#+-.:=@_" else f"\\x{ord(char):02x}" for char in value
    )
    return f"/dev/disk/by-{_TAGS[tag]}/{kept}"


def _swap(mount: ospb.Mount, what: str) -> str:
    options = [option for option in mount.options if option not in {"sw", "defaults"}]
    return unit_file(
        {
            "Swap": [("What", what), *([("Options", ",".join(options))] if options else [])],
            "Install": [("WantedBy", "swap.target")],
        }
    )


def _mount(mount: ospb.Mount, what: str) -> str:
    options = [option for option in mount.options if option not in {"nofail", "defaults"}]
    kind = [] if mount.type in {"", "auto"} else [("Type", mount.type)]
    remote = mount.type in _NETWORK or "_netdev" in options
    target = "remote-fs.target" if remote else "local-fs.target"
    checked = mount.check and what.startswith("/dev/")
    fsck = f"systemd-fsck@{escaped_path(what)}.service"
    return unit_file(
        {
            **({"Unit": [("Requires", fsck), ("After", fsck)]} if checked else {}),
            "Mount": [
                ("What", what),
                ("Where", mount.path),
                *kind,
                *([("Options", ",".join(options))] if options else []),
            ],
            "Install": [("WantedBy" if "nofail" in mount.options else "RequiredBy", target)],
        }
    )
