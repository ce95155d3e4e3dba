"""Paths of Linux as text: the names of disks and of their partitions, and the folders above a path."""

import re

_PARTITION = re.compile(
    r"/dev/(?:(?:sd|vd|xvd|hd)[a-z]+[0-9]+"
    r"|[^/]+[0-9]p[0-9]+"
    r"|disk/by-(?:label|uuid|partlabel|partuuid)/.+"
    r"|disk/.+-part[0-9]+)"
)


def partition_device(disk: str, number: int) -> str:
    """Give the device of a disk's partition.

    A stable name below /dev/disk gets "-part1"; a name that ends in a digit (nvme0n1, mmcblk0, loop0, md0) gets "p1".
    """
    if disk.startswith("/dev/disk/"):
        return f"{disk}-part{number}"
    return f"{disk}p{number}" if re.search(r"[0-9]$", disk) else f"{disk}{number}"


def is_partition(device: str) -> bool:
    """Return whether a name is that of one partition, or of the filesystem that is on one, and not of a disk."""
    return _PARTITION.fullmatch(device) is not None


def parents(path: str) -> list[str]:
    """Give the folders above a path, the root as "" first."""
    parts = path.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]
