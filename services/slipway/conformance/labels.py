"""How long the label of a filesystem may be: a rule that no field can have, as it depends on the kind."""

from collections.abc import Mapping

from slipway.v1alpha1 import os_pb2 as ospb

LONGEST: Mapping[str, int] = {
    "btrfs": 255, "ext2": 16, "ext3": 16, "ext4": 16, "msdos": 11, "swap": 15, "vfat": 11, "xfs": 12,
}  # fmt: skip
"""Most bytes of a label by the kind of filesystem; source: mke2fs(8), mkfs.xfs(8), mkfs.fat(8), mkswap(8)."""


def is_too_long(filesystem: ospb.Filesystem) -> bool:
    """Return whether no filesystem has this label: the program that makes it fails, or cuts the label."""
    longest = LONGEST.get(filesystem.format)
    return longest is not None and len(filesystem.label.encode()) > longest
