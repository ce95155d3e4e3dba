"""Layouts of disks made by hypothesis: partitions, filesystems on them, and mounts, of all that both programs can do.

cloud-init knows shares of a disk and Ignition sizes: a layout is for a disk of 1000 MiB, so that both say the same.
"""

from functools import cache

from hypothesis import strategies as st

from slipway.v1alpha1 import os_pb2 as ospb
from tests.oracles.generated import examples

MIB_OF_A_SHARE = 10
GUID = "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709"
LEFT_OUT = {
    "Partition.label": "cloud-init has no word for it",
    "Filesystem.partition": "a bundle names the device",
    "Filesystem.replace_format": "Ignition has no word for it",
    "Mount.partition": "a bundle names the device",
}
# What stands between a disk's name and the number of a partition.
_INFIXES = {"/dev/vdb": "", "/dev/nvme0n1": "p", "/dev/disk/by-id/virtio-gen": "-part"}
_OPTIONS = (["noatime", "nofail"], ["ro"], ["defaults", "_netdev"], ["umask=0027"], ["nofail", "_netdev"])


@cache
def layouts(count: int) -> tuple[ospb.OperatingSystem, ...]:
    """So many layouts, as cloud-init is told of them. Those of nearly the same size resemble each other."""
    found = sorted(examples(16 * count, _layout()), key=lambda example: example.ByteSize(), reverse=True)
    return tuple(found[: 8 * count : 8])


def in_sizes(layout: ospb.OperatingSystem) -> ospb.OperatingSystem:
    """The same layout as Ignition is told of it."""
    made = ospb.OperatingSystem()
    made.CopyFrom(layout)
    for disk in made.disks:
        for partition in disk.partitions:
            if partition.HasField("percentage"):
                partition.size_mib = partition.percentage * MIB_OF_A_SHARE
                partition.ClearField("percentage")
    return made


@st.composite
def _layout(draw: st.DrawFn) -> ospb.OperatingSystem:
    made = ospb.OperatingSystem()
    for device in draw(st.lists(st.sampled_from(sorted(_INFIXES)), min_size=1, unique=True)):
        disk = made.disks.add(device=device)
        if draw(st.booleans()):
            disk.table_type = ospb.PARTITION_TABLE_TYPE_GPT
        # Ignition takes no other disk.
        disk.overwrite = True
        shares = draw(st.lists(st.integers(1, 33), max_size=2))
        for number, share in enumerate([*shares, 0], start=1):
            partition = disk.partitions.add()
            if share:
                partition.percentage = share
            _fill(made, partition, f"{device}{_INFIXES[device]}{number}", draw)
    made.mounts.add(source="tmpfs", path="/srv/scratch", type="tmpfs", options=["size=1%", "mode=0750"])
    return made


def _fill(system: ospb.OperatingSystem, partition: ospb.Partition, device: str, draw: st.DrawFn) -> None:
    """Say what a partition is for, and make, and mount, a filesystem on it."""
    kind = draw(st.sampled_from(("", "linux", "swap", "raid", "lvm", GUID)))
    if kind:
        partition.type = kind
    if kind in {"raid", "lvm"}:
        return
    filesystem = system.filesystems.add(device=device, format="swap")
    number = len(system.filesystems)
    if kind != "swap":
        filesystem.format = draw(st.sampled_from(("ext4", "xfs", "btrfs", "vfat")))
    if draw(st.booleans()):
        filesystem.label = f"GEN~{number}"
    if draw(st.booleans()):
        filesystem.overwrite = draw(st.booleans())
    if draw(st.booleans()):
        filesystem.options.extend(["-q", f"-n{number}"])
    if kind == "swap":
        system.mounts.add(source=device, path="none", type="swap")
    else:
        _mount(system, filesystem, number, draw)


def _mount(system: ospb.OperatingSystem, filesystem: ospb.Filesystem, number: int, draw: st.DrawFn) -> None:
    """Say where a filesystem is mounted, and how."""
    sources = [filesystem.device, f"PARTUUID=1b4e28ba-{number:02}"]
    sources += [f"LABEL={filesystem.label}"] if filesystem.label else []
    mount = system.mounts.add(source=draw(st.sampled_from(sources)), path=f"/srv/gen-{number}/a-b")
    if draw(st.booleans()):
        mount.type = filesystem.format
    if draw(st.booleans()):
        mount.options.extend(draw(st.sampled_from(_OPTIONS)))
    if draw(st.booleans()):
        mount.check = draw(st.booleans())
