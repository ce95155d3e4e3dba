"""Disks that a spec divides: who means the whole of one, or a partition that it does not get, means nothing.

A filesystem on the whole destroys the table, or is not made; what waits for a partition that is never made waits for
ever. Of an imported config they stay as they are.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from slipway.bootstrapper.assembly.partitions import device_of
from slipway.contract.bounded_json import read_json
from slipway.contract.errors import Violation
from slipway.contract.paths import partition_device
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

_SEARCH = "/partition-search"
_MOST_VALUES = 10_000
_NUMBER = re.compile(r"[0-9]{1,9}$")


def violations(os: ospb.OperatingSystem, path: str, extensions: Sequence[specpb.Extension]) -> Iterator[Violation]:
    """Give every filesystem and mount of a divided disk that the disk has no place for, by the field path of `os`."""
    searched = _searched(extensions)
    named: list[tuple[str, str, ospb.Filesystem | ospb.Mount]] = [
        *((f"{path}.filesystems[{index}]", "device", each) for index, each in enumerate(os.filesystems)),
        *((f"{path}.mounts[{index}]", "source", each) for index, each in enumerate(os.mounts)),
    ]
    yield from _undivided(named, {disk.device for disk in os.disks}, searched)
    for number, disk in enumerate(os.disks):
        place = person_path(f"spec.{path}.disks[{number}]")
        for where, field, each in named:
            device = device_of(os, each.partition) if each.HasField("partition") else getattr(each, field)
            here = f"{where}.{'partition' if each.HasField('partition') else field}"
            if device == disk.device and disk.partitions and device not in searched:
                yield Violation(
                    here,
                    f"is the disk that {place} divides: what is on the whole of it has no room, or destroys the table",
                    remedy="put partition in its place",
                )
            elif disk.overwrite and _number(disk, device) > len(disk.partitions):
                yield Violation(here, f"is a partition that {place} does not make", remedy="name one that it makes")


def _undivided(
    named: Sequence[tuple[str, str, ospb.Filesystem | ospb.Mount]],
    divided: AbstractSet[str],
    searched: AbstractSet[str],
) -> Iterator[Violation]:
    """Give what is on a partition of a disk that another item formats as a whole, and that no entry divides."""
    wholes = {
        each.device: person_path(f"spec.{where}")
        for where, _, each in named
        if isinstance(each, ospb.Filesystem) and each.device and each.device not in divided | searched
    }
    for where, field, each in named:
        device = getattr(each, field)
        match = _NUMBER.search(device)
        for whole in wholes if match else ():
            if match and device == partition_device(whole, int(match[0])):
                why = f"is a partition of the disk that {wholes[whole]} makes a filesystem on as a whole"
                yield Violation(
                    f"{where}.{field}", why, remedy="divide the disk by an entry of disks, or leave one out"
                )


def _number(disk: ospb.Disk, device: str) -> int:
    """Give the number of the disk's partition that a device is, or 0; those within an extended one count from 5."""
    if any(partition.type == "extended" for partition in disk.partitions):
        return 0
    match = _NUMBER.search(device)
    number = int(match[0]) if match else 0
    return number if number and device == partition_device(disk.device, number) else 0


def _searched(extensions: Sequence[specpb.Extension]) -> set[str]:
    """Give the devices on which a provisioner is to look for a partition, by its extension for that."""
    devices: set[str] = set()
    for extension in extensions:
        if extension.id.endswith(_SEARCH):
            try:
                entries: object = read_json(extension.content.text.encode(), most_values=_MOST_VALUES)
            except ValueError:
                continue  # Its provisioner refuses it.
            listed = entries if isinstance(entries, list) else []
            devices.update(str(entry.get("device")) for entry in listed if isinstance(entry, dict))
    return devices
