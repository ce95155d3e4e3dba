"""Disks and filesystems of a Container Linux Config, as far as neutral items can say them."""

from slipway.bootstrapper.importers.container_linux_disks import Disk, Filesystem, Mount, Partition
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import os_pb2 as ospb

_TYPES = {
    "linux_filesystem_data": "linux",
    "0fc63daf-8483-4772-8e79-3d69d8477de4": "linux",
    "swap_partition": "swap",
    "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f": "swap",
    "raid_partition": "raid",
    "a19d880f-05fc-4d3b-a006-743f0f84911e": "raid",
    "raid_containing_root": "be9067b9-ea49-4f15-b4f6-f36f8c9e1818",
}
_TWICE = "diskSetup has this disk with other partitions: name them in one place"


def add_disk(context: Context, place: Place, disk: Disk, os: ospb.OperatingSystem) -> None:
    """Add a disk. One that diskSetup has too, with a single partition, gets the partitions that are written here.

    That is how the provider's own templates give the partition of a disk its number.
    """
    item = ospb.Disk(device=disk.device, table_type=ospb.PARTITION_TABLE_TYPE_GPT, origin=place.origin())
    if disk.wipe_table:
        item.overwrite = True
    for index, partition in enumerate(disk.partitions):
        _add_partition(context, place.within(f"{place.inner}.partitions[{index}]"), partition, index, item)
    known = next((each for each in os.disks if each.device == disk.device), None)
    if known is None:
        os.disks.append(item)
        return
    if not item.partitions or item.partitions == known.partitions:
        known.overwrite = known.overwrite or disk.wipe_table
    elif list(known.partitions) in ([], [ospb.Partition()]):
        item.overwrite = known.overwrite or disk.wipe_table
        known.CopyFrom(item)
    else:
        context.findings.refuse(place, _TWICE)


def _add_partition(context: Context, place: Place, partition: Partition, index: int, item: ospb.Disk) -> None:
    if partition.number not in {0, index + 1}:
        context.findings.refuse(place.within(f"{place.inner}.number"), "must be the place in the list, from 1 on")
    if partition.start:
        context.findings.refuse(place.within(f"{place.inner}.start"), "partitions follow one another: leave it out")
    if partition.guid:
        context.findings.refuse(place.within(f"{place.inner}.guid"), "is not carried over: leave it out")
    added = item.partitions.add()
    if partition.size:
        added.size_mib = partition.size
    if partition.label:
        added.label = partition.label
    if partition.type_guid:
        kind = partition.type_guid.lower()
        added.type = _TYPES.get(kind, kind)


def add_filesystem(context: Context, place: Place, filesystem: Filesystem, os: ospb.OperatingSystem) -> None:
    """Add a filesystem: one that is made on a device. Other file systems to put files in are refused."""
    mount = filesystem.mount
    if mount is None or filesystem.path is not None or filesystem.name == "root":
        message = "only a filesystem that is made on a device (mount), and not the root, is carried over"
        context.findings.refuse(place, message)
        return
    item = ospb.Filesystem(device=mount.device, format=mount.format, origin=place.origin())
    if mount.uuid:
        context.findings.refuse(place.within(f"{place.inner}.mount.uuid"), "is not carried over: leave it out")
    if mount.label:
        item.label = mount.label
    if mount.wipe_filesystem or (mount.create and mount.create.force):
        item.overwrite = True
    item.options.extend(_options(mount))
    os.filesystems.append(item)


def _options(mount: Mount) -> list[str]:
    """Give the options of the program that makes the filesystem: the older field counts where it is there."""
    return mount.create.options if mount.create else mount.options
