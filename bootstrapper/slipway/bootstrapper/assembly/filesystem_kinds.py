"""The kinds of filesystems for which Linux has a program that makes them: another word is one that no image knows.

Sources: mkfs(8), mkswap(8), and the file systems of a disk in the kernel's documentation (filesystems/).
"""

from collections.abc import Iterator

from slipway.contract.errors import Violation
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import os_pb2 as ospb

KINDS = frozenset(
    {"bcachefs", "bfs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "fat", "gfs2", "hfs", "hfsplus", "jfs"}
    | {"lustre", "minix", "msdos", "nilfs2", "ntfs", "ocfs2", "reiser4", "reiserfs", "swap", "udf", "vfat", "xfs"}
)
"""As the suffix of a program's name: mkfs.ext4; and mkswap's."""
_USUAL = "ext4, xfs, btrfs, vfat or swap"


def violations(os: ospb.OperatingSystem) -> Iterator[Violation]:
    """Give every filesystem of an unknown kind, by the field path of its format."""
    for index, filesystem in enumerate(os.filesystems):
        if filesystem.format and filesystem.format not in KINDS:
            meant = did_you_mean(filesystem.format, KINDS)
            hint = f"; did you mean {meant}?" if meant else ""
            why = f"is no kind of filesystem that Linux has a program for{hint}"
            yield Violation(f"os.filesystems[{index}].format", why, remedy=f"write one such as {_USUAL}")
