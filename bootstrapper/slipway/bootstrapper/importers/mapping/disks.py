"""diskSetup and mounts: both formats have the same fields and mean different things by them."""

import json
import re
from collections.abc import Mapping, Sequence

from slipway.bootstrapper.importers.kubeadm_config.os_items import DiskSetup, Filesystem, Partition
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, IGNITION, Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.bootstrapper.importers.mapping.raw_items import keep_filesystem, keep_mount, keep_partition
from slipway.contract.paths import is_partition
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

_TABLES = {"gpt": ospb.PARTITION_TABLE_TYPE_GPT, "mbr": ospb.PARTITION_TABLE_TYPE_MBR}
_TYPES = {
    "": "",
    "Linux": "linux",
    "LinuxSwap": "swap",
    "LinuxRAID": "raid",
    "LVM": "lvm",
    "Fat32": "fat32",
    "NTFS": "ntfs",
    "LinuxExtended": "extended",
}
_SHORT_DEVICE = re.compile(r"(?:sd|vd|hd|xvd|nvme|md|dm-)[a-z0-9]+")
_KNOWN_SOURCE = re.compile(r"(?:LABEL|UUID|PARTLABEL|PARTUUID)=.+|/.+|tmpfs|none")
_ALIAS = re.compile(r"[a-z]+[0-9]*\.[0-9]+")
_PARTITION_SEARCH = "cloud-init.slipway.dev/partition-search"
_CUT_LABELS = {"ext2": 16, "ext3": 16, "ext4": 16, "swap": 15}
"""The longest labels in bytes of what mke2fs and mkswap make; they cut longer ones. Source: mke2fs(8), mkswap(8)."""
_ITSELF = "none"
"""cloud-init's word for the device itself."""
_WITHOUT_PLACE = (
    "a mount needs what and where; that the image's own is left out is not carried over: have a command of "
    "preKubeadmCommands take it out of /etc/fstab and unmount it"
)
_NOT_NEEDED = "nofail"
_NAMED = 2
_WHOLE = 100
"""A mount names at least what and where."""


def set_disks(context: Context, place: Place, setup: DiskSetup, spec: specpb.MachineBootstrapSpec) -> None:
    """Carry over diskSetup."""
    for index, partition in enumerate(setup.partitions):
        here = place.at("partitions", index)
        if keep_partition(context, here, partition, spec):
            continue
        item = _disk(context, here, partition)
        if item is not None:
            spec.os.disks.append(item)
    searches: dict[int, dict[str, str]] = {}
    places: list[Place] = []
    for index, filesystem in enumerate(setup.filesystems):
        here = place.at("filesystems", index)
        if keep_filesystem(context, here, filesystem, spec):
            continue
        made = _filesystem(context, here, filesystem)
        spec.os.filesystems.append(made)
        if not made.HasField("partition") and _is_searched(context, made.device, filesystem.partition):
            searches[len(spec.os.filesystems) - 1] = _search(made, filesystem.partition)
            places.append(here.at("partition") if filesystem.partition else here)
    if searches:
        entries = _with_alike(searches, spec.os.filesystems)
        here = places[0] if len(places) == 1 else place.at("filesystems")
        content = contentpb.Content(text=json.dumps(entries, ensure_ascii=False))
        spec.extensions.add(id=_PARTITION_SEARCH, media_type="application/json", content=content, origin=here.origin())


def searched_devices(spec: specpb.MachineBootstrapSpec) -> set[str]:
    """Return the devices on which cloud-init looks for a partition, as the extension of its provisioner has them."""
    texts = [entry.content.text for entry in spec.extensions if entry.id == _PARTITION_SEARCH]
    return {entry["device"] for text in texts for entry in json.loads(text) if entry["partition"] != _ITSELF}


def _disk(context: Context, place: Place, partition: Partition) -> ospb.Disk | None:
    if partition.layout is False and not partition.disk_layout:
        if context.format == IGNITION:
            message = "layout: false leaves the disk alone here; today's ignition output makes a partition all the same"
            context.findings.warn(place.at("layout"), "LAYOUT_HONOURED", message)
        else:
            context.findings.inform(place.at("layout"), "DISK_LEFT_ALONE", "layout: false leaves the disk alone")
        return None
    item = ospb.Disk(device=context.plain(place.at("device"), partition.device), origin=place.origin())
    # cloud-init's own default is mbr, Ignition knows gpt only.
    item.table_type = _TABLES[partition.table_type or ("mbr" if context.format == CLOUD_CONFIG else "gpt")]
    if partition.overwrite is not None:
        item.overwrite = partition.overwrite
    if partition.disk_layout and context.format == IGNITION:
        message = "today's ignition output ignores diskLayout; here it takes effect"
        context.findings.warn(place.at("diskLayout"), "DISK_LAYOUT_HONOURED", message)
    for layout in partition.disk_layout:
        part = item.partitions.add(percentage=layout.percentage)
        kind = _TYPES.get(layout.partition_type, layout.partition_type)
        if kind:
            part.type = kind
    if not partition.disk_layout:
        item.partitions.add()
    shares = sum(layout.percentage for layout in partition.disk_layout)
    if context.format == CLOUD_CONFIG and 0 < shares < _WHOLE:
        last = len(partition.disk_layout) - 1
        message = "cloud-init gives all that is left of the disk to the last partition, today as well"
        context.findings.inform(place.at("diskLayout", last, "percentage"), "LAST_PARTITION_TAKES_REST", message)
        item.partitions[last].percentage += _WHOLE - shares
    return item


def _filesystem(context: Context, place: Place, filesystem: Filesystem) -> ospb.Filesystem:
    item = ospb.Filesystem(
        format=context.plain(place.at("filesystem"), filesystem.filesystem),
        origin=place.origin(),
    )
    _set_device(item, context.plain(place.at("device"), filesystem.device), filesystem.partition)
    if filesystem.label and filesystem.label != "None":
        item.label = _label(context, place.at("label"), filesystem.label, item.format)
    if filesystem.overwrite is not None:
        item.overwrite = filesystem.overwrite
    if filesystem.replace_fs:
        item.replace_format = filesystem.replace_fs
    for index, option in enumerate(filesystem.extra_opts):
        item.options.append(context.plain(place.at("extraOpts", index), option))
    return item


def _label(context: Context, place: Place, written: str, kind: str) -> str:
    """Give a label, and of one that mke2fs or mkswap cuts today what is left of it."""
    label = context.plain(place, written)
    longest = _CUT_LABELS.get(kind)
    if context.format != CLOUD_CONFIG or longest is None or len(label.encode()) <= longest:
        return label
    try:
        cut = label.encode()[:longest].decode()
    except UnicodeDecodeError:
        return label
    message = f"a label of {kind} has at most {longest} bytes: the filesystem gets the label {cut!r}, as today"
    context.findings.warn(place, "LABEL_CUT", message)
    return cut


def _set_device(item: ospb.Filesystem, device: str, partition: str) -> None:
    """Say where the filesystem is."""
    if partition.isdecimal() and device.startswith("/dev/"):
        item.partition.disk, item.partition.number = device, int(partition)
        return
    # cloud-init's own name of an attached disk takes the number behind a dot.
    item.device = f"{device}.{partition}" if partition.isdecimal() else device


def _is_searched(context: Context, device: str, partition: str) -> bool:
    """Whether cloud-init looks for a partition of a disk: it does unless the config says which."""
    known = partition.isdecimal() or partition == _ITSELF or is_partition(device) or _ALIAS.fullmatch(device)
    return context.format == CLOUD_CONFIG and not known


def _search(item: ospb.Filesystem, partition: str) -> dict[str, str]:
    """Say to cloud-init's provisioner what cloud-init is to do for a filesystem."""
    label = {"label": item.label} if item.label else {}
    # cloud-init's "auto|any" is its "any": whatever is there of this kind is good.
    word = partition if partition in {"auto", _ITSELF} else "any"
    return {"device": item.device, "filesystem": item.format, **label, "partition": word}


def _with_alike(searches: Mapping[int, dict[str, str]], filesystems: Sequence[ospb.Filesystem]) -> list[dict[str, str]]:
    """Give the searches in the order of the filesystems, and for one that is like a searched one that it has none."""
    known = [{**entry, "partition": _ITSELF} for entry in searches.values()]
    alike = {index: entry for index, item in enumerate(filesystems) if (entry := _search(item, _ITSELF)) in known}
    return [searches.get(index, entry) for index, entry in alike.items()]


def set_mounts(context: Context, place: Place, mounts: list[list[str]], spec: specpb.MachineBootstrapSpec) -> None:
    """Carry over mounts."""
    for index, fields in enumerate(mounts):
        here = place.at(index)
        if keep_mount(context, here, fields, spec):
            continue
        words = [context.plain(here.at(number), word) for number, word in enumerate(fields)]
        if len(words) < _NAMED:
            context.findings.refuse(here, _WITHOUT_PLACE)
        elif context.format == IGNITION:
            spec.os.mounts.append(_ignition_mount(context, here, words, spec.os))
        else:
            spec.os.mounts.append(_fstab_mount(context, here, words))


def _ignition_mount(context: Context, place: Place, words: list[str], os: ospb.OperatingSystem) -> ospb.Mount:
    """What is the label of a filesystem of the same config; all behind where are options.

    A machine of today starts without the mount when it fails: its unit is wanted only (Cluster API, ignition/clc).
    """
    # The filesystem of a partition by number has no device of its own, and is found by its label.
    labelled = {item.label: item.device or f"LABEL={item.label}" for item in os.filesystems if item.label}
    item = ospb.Mount(source=labelled.get(words[0], words[0]), path=words[1], origin=place.origin())
    item.options.extend(option for word in words[2:] for option in word.split(",") if option)
    if _NOT_NEEDED not in item.options:
        item.options.append(_NOT_NEEDED)
    if words[0] not in labelled:
        if not _KNOWN_SOURCE.fullmatch(words[0]):
            context.findings.refuse(place.at(0), "no filesystem of diskSetup has this label")
        else:
            message = "today's ignition output mounts nothing here, since it knows labels of diskSetup only"
            context.findings.warn(place.at(0), "MOUNT_HONOURED", message)
    return item


def _fstab_mount(context: Context, place: Place, words: list[str]) -> ospb.Mount:
    """The fields are those of fstab; the defaults are cloud-init's."""
    source = f"/dev/{words[0]}" if _SHORT_DEVICE.fullmatch(words[0]) else words[0]
    item = ospb.Mount(source=source, path=words[1], origin=place.origin())
    kind, options, dump, passes = (*words[2:6], *[""] * (6 - len(words[:6])))
    if kind:
        item.type = kind
    item.options.extend(option for option in (options or "defaults,nofail").split(",") if option)
    for number, index in ((dump, 4), (passes, 5)):
        if number and not number.isdecimal():
            context.findings.refuse(place.at(index), "must be a number in quotes")
    if dump.strip("0").isdecimal():
        message = "fstab's fifth field is not carried over: only the program dump reads it"
        context.findings.inform(place.at(4), "DUMP_NOT_CARRIED", message)
    if passes.isdecimal():
        # For anything but the root, systemd makes no difference between 1 and 2.
        item.check = int(passes) > 0
    return item
