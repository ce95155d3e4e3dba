"""Partitions by number or label, which a bundle names by their devices."""

from collections.abc import Iterator

from slipway.contract.errors import Violation
from slipway.contract.paths import partition_device
from slipway.v1alpha1 import os_pb2 as ospb


def resolve_partitions(system: ospb.OperatingSystem) -> None:
    """Name the device in the place of every reference to a partition."""
    for filesystem in system.filesystems:
        if filesystem.HasField("partition"):
            filesystem.device = device_of(system, filesystem.partition)
            filesystem.ClearField("partition")
    for mount in system.mounts:
        if mount.HasField("partition"):
            mount.source = device_of(system, mount.partition)
            mount.ClearField("partition")


def violations(system: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give every filesystem and mount that names no device, or two, or a partition that is not there."""
    for index, filesystem in enumerate(system.filesystems):
        where = f"{path}.filesystems[{index}]"
        if bool(filesystem.device) == filesystem.HasField("partition"):
            yield Violation(
                where, "must have exactly one of device and partition", remedy="set one of them, and no other"
            )
        if filesystem.HasField("partition"):
            yield from _of_reference(system, filesystem.partition, f"{where}.partition")
    for index, mount in enumerate(system.mounts):
        where = f"{path}.mounts[{index}]"
        if bool(mount.source) == mount.HasField("partition"):
            yield Violation(
                where, "must have exactly one of source and partition", remedy="set one of them, and no other"
            )
        if mount.HasField("partition"):
            yield from _of_reference(system, mount.partition, f"{where}.partition")


def device_of(system: ospb.OperatingSystem, reference: ospb.PartitionReference) -> str:
    """Return the device of a partition that is named by its number, or by its label in the spec."""
    number = reference.number or next(iter(_numbers(system, reference)), 0)
    return partition_device(reference.disk, number)


def _numbers(system: ospb.OperatingSystem, reference: ospb.PartitionReference) -> list[int]:
    return [
        number
        for disk in system.disks
        if disk.device == reference.disk
        for number, partition in enumerate(disk.partitions, start=1)
        if partition.label == reference.label
    ]


def _of_reference(system: ospb.OperatingSystem, reference: ospb.PartitionReference, path: str) -> Iterator[Violation]:
    if not reference.disk.startswith("/dev/"):
        yield Violation(f"{path}.disk", "must be a path below /dev")
    which = reference.WhichOneof("partition")
    if which is None:
        yield Violation(path, "must have exactly one of number and label", remedy="set one of them, and no other")
    elif which == "label":
        count = len(_numbers(system, reference))
        if count != 1:
            why = "is the label of more than one partition" if count else "is the label of no partition"
            yield Violation(f"{path}.label", f"{why} of this disk in spec.os.disks")
