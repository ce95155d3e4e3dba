"""Disks and filesystems of a Container Linux Config: neutral items, or Ignition's own config for what none can say.

That is a partition with a number of its own, a start or a GUID: only Ignition has them, so such a disk goes into the
extension of its provisioner, with the keys of specification 3.0.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

from slipway.bootstrapper.importers.container_linux_types import Disk, Filesystem, Mount, Partition
from slipway.bootstrapper.importers.mapping.context import Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

_TYPES = {
    "linux_filesystem_data": "linux",
    "0fc63daf-8483-4772-8e79-3d69d8477de4": "linux",
    "swap_partition": "swap",
    "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f": "swap",
    "raid_partition": "raid",
    "a19d880f-05fc-4d3b-a006-743f0f84911e": "raid",
    "raid_containing_root": "be9067b9-ea49-4f15-b4f6-f36f8c9e1818",
}
_GUIDS = {
    "linux_filesystem_data": "0fc63daf-8483-4772-8e79-3d69d8477de4",
    "swap_partition": "0657fd6d-a4ab-43c4-84e5-0933c84b4f4f",
    "raid_partition": "a19d880f-05fc-4d3b-a006-743f0f84911e",
    "raid_containing_root": "be9067b9-ea49-4f15-b4f6-f36f8c9e1818",
}
_GUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
EXTENSION = "ignition.slipway.dev/config"
_TWICE = "diskSetup has this disk with other partitions: name them in one place"


def set_snippet_disks(context: Context, place: Place, disks: Sequence[Disk], spec: specpb.MachineBootstrapSpec) -> None:
    """Carry over the disks that stand at a place, after all filesystems.

    The partitions of a disk of which a filesystem takes the whole do not matter: whole_disks.py.
    """
    whole = {filesystem.device for filesystem in spec.os.filesystems}
    own: list[dict[str, Any]] = []
    places: list[Place] = []
    for index, disk in enumerate(disks):
        here = place.within(f"{place.inner}[{index}]")
        is_whole = disk.device in whole
        if is_whole or all(_is_neutral(partition, number) for number, partition in enumerate(disk.partitions, 1)):
            _add_disk(context, here, disk, spec.os)
            continue
        known = {each.device for each in spec.os.disks} | {each.device for each in disks[:index]}
        if disk.device in known:
            context.findings.refuse(here, _TWICE)
        own.append(_ignition_disk(context, here, disk))
        places.append(here)
    if own:
        config = {"ignition": {"version": "3.0.0"}, "storage": {"disks": own}}
        origin = (places[0] if len(places) == 1 else place).origin()
        content = contentpb.Content(text=json.dumps(config, ensure_ascii=False))
        spec.extensions.add(id=EXTENSION, media_type="application/json", content=content, origin=origin)


def _is_neutral(partition: Partition, place_in_list: int) -> bool:
    return partition.number in {0, place_in_list} and not partition.start and not partition.guid


def _ignition_disk(context: Context, place: Place, disk: Disk) -> dict[str, Any]:
    partitions = []
    for index, partition in enumerate(disk.partitions):
        here = place.within(f"{place.inner}.partitions[{index}]")
        kind = _GUIDS.get(partition.type_guid.lower(), partition.type_guid)
        for name, guid in (("guid", partition.guid), ("type_guid", kind)):
            if guid and not _GUID.fullmatch(guid):
                context.findings.refuse(here.within(f"{here.inner}.{name}"), "must be a GUID")
        if not partition.number and not partition.label:
            context.findings.refuse(here, "needs a number or a label beside one with a number, start or guid")
        keys = {
            **({"number": partition.number} if partition.number else {}),
            **({"label": partition.label} if partition.label else {}),
            **({"sizeMiB": partition.size} if partition.size else {}),
            **({"startMiB": partition.start} if partition.start else {}),
            **({"typeGuid": kind} if kind else {}),
            **({"guid": partition.guid} if partition.guid else {}),
        }
        partitions.append(keys)
    return {"device": disk.device, **({"wipeTable": True} if disk.wipe_table else {}), "partitions": partitions}


def _add_disk(context: Context, place: Place, disk: Disk, os: ospb.OperatingSystem) -> None:
    """Add a disk. One that diskSetup has too, with a single partition, gets the partitions that are written here.

    That is how the provider's own templates give the partition of a disk its number.
    """
    item = ospb.Disk(device=disk.device, table_type=ospb.PARTITION_TABLE_TYPE_GPT, origin=place.origin())
    if disk.wipe_table:
        item.overwrite = True
    for partition in disk.partitions:
        _add_partition(partition, item)
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


def _add_partition(partition: Partition, item: ospb.Disk) -> None:
    added = item.partitions.add()
    if partition.size:
        added.size_mib = partition.size
    if partition.label:
        added.label = partition.label
    if partition.type_guid:
        kind = partition.type_guid.lower()
        added.type = _TYPES.get(kind, kind)


def add_filesystem(context: Context, place: Place, filesystem: Filesystem, os: ospb.OperatingSystem) -> None:
    """Add a filesystem: one that is made on a device. A mere name for a path has no effect but on files that use it."""
    mount = filesystem.mount
    if mount is None and filesystem.name != "root":
        message = "names a path for files that are written there: those are refused, without them it has no effect"
        context.findings.inform(place, "NO_EFFECT", message)
        return
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
