"""Which words of a program that makes filesystems may bring another device into play."""

import pytest

from slipway.contract.filesystems import device_options, is_long_label

CASES = [
    ("btrfs", ["/dev/vda"], [0], "mkfs.btrfs takes any number of devices"),
    ("btrfs", ["-f", "/dev/vda"], [1], "-f has no value"),
    ("btrfs", ["-f", "vda"], [1], "the same by a name without folder"),
    ("btrfs", ["-m", "raid1", "-d", "raid1"], [], "values"),
    ("btrfs", ["--", "vda"], [1], "behind the end of the options"),
    ("btrfs", ["--label=x", "vda"], [1], "the value is in the word"),
    ("btrfs", ["--metadata", "dup", "vda"], [2], "one value, and no more"),
    ("btrfs", ["-"], [0], "no option"),
    ("ext4", ["-U", "1b4e28ba-2fa1-41d2-883f-0016d3cca427", "-E", "lazy_itable_init=1"], [], "values"),
    ("ext4", ["-qFm", "1", "-m1", "-O^has_journal"], [], "options in one word, and values in the same"),
    ("ext4", ["-m1", "100"], [1], "the size of the filesystem, in whose place the device would be"),
    ("ext4", ["-J", "device=/dev/vdc"], [], "a journal, which must have been made as one"),
    ("ext4", ["-J", "/dev/vdc"], [1], "a device"),
    ("xfs", ["-l", "logdev=/dev/vdc"], [1], "the device of a log is overwritten"),
    ("xfs", ["-rrtdev=dev/vdc"], [0], "the same from the root folder, in one word"),
    ("vfat", ["-F", "32", "-n", "DEVICES"], [], "values"),
    ("f2fs", ["-c", "/dev/vdc"], [1], "further devices"),
    ("jfs", ["-q", "word"], [], "of another program nobody knows which options have a value"),
    ("jfs", ["-q", "word", "word"], [2], "but one value is the most"),
    ("ext4", ["-L", "dev", "-d", "/srv/dev.d"], [], "only looks like one"),
]


@pytest.mark.parametrize(("kind", "options", "positions", "reason"), CASES, ids=[case[3] for case in CASES])
def test_device_options(kind: str, options: list[str], positions: list[int], reason: str) -> None:
    """Each is given by its position."""
    assert list(device_options(kind, options)) == positions, reason


def test_labels_are_counted_in_bytes() -> None:
    """As the programs do; of kinds that are not known here every label passes."""
    assert [is_long_label(*each) for each in (("xfs", "\u00fc" * 6), ("xfs", "\u00fc" * 7), ("jfs", "a" * 99))] == [
        False,
        True,
        False,
    ]
