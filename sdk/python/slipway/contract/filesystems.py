"""What the programs that make filesystems take: how long a label may be, and which of their options have a value.

Sources: mke2fs(8), mkfs.xfs(8), mkfs.btrfs(8), mkfs.fat(8), mkfs.f2fs(8), mkswap(8).
"""

import re
from collections.abc import Iterator, Sequence

LONGEST_LABELS = {
    "ext2": 16, "ext3": 16, "ext4": 16, "xfs": 12, "vfat": 11, "msdos": 11, "fat": 11, "swap": 15, "btrfs": 255,
}  # fmt: skip
"""The longest label of each kind, in bytes. Where it is longer, mkfs.xfs, mkfs.fat and mkfs.btrfs make no filesystem;
mke2fs and mkswap cut it, so that nothing would be mounted by it."""

_EXT = "cDFjKnqSvV"
_FAT = "aAcCIv"
_FLAGS = {
    "ext2": _EXT, "ext3": _EXT, "ext4": _EXT, "xfs": "CfKNqV", "btrfs": "fKMqvV", "vfat": _FAT,
    "msdos": _FAT, "fat": _FAT, "f2fs": "fHhimqrV", "swap": "cfFhqV",
}  # fmt: skip
"""Options of one letter that have no value. Any other may have one: in the same word, or as the next."""
_DEVICE = re.compile(r"(?:^|[=,:/])dev/")


def is_long_label(kind: str, label: str) -> bool:
    """Return whether a label is longer than its kind of filesystem holds; of other kinds nothing is known here."""
    return kind in LONGEST_LABELS and len(label.encode()) > LONGEST_LABELS[kind]


def device_options(kind: str, options: Sequence[str]) -> Iterator[int]:
    """Give the positions of options by which a program would also write to another device.

    Such are words that are neither an option nor the value of one, and values that name a device. The journal of an
    ext filesystem does not count: mke2fs takes only a device that was made as such.
    """
    may_be_value = False
    for index, word in enumerate(options):
        is_option = word.startswith("-") and word != "-"
        named = kind not in {"ext2", "ext3", "ext4"} or "device=" not in word
        if not (is_option or may_be_value) or (named and _DEVICE.search(word)):
            yield index
        may_be_value = is_option and _may_have_value(kind, word)


def _may_have_value(kind: str, word: str) -> bool:
    """Return whether the word behind an option may be its value."""
    if word.startswith("--"):
        return word != "--" and "=" not in word
    letters = word[1:]
    flags = _FLAGS.get(kind)
    if flags is None:
        return True
    rest = letters.lstrip(flags)
    return len(rest) == 1
