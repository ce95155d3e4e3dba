"""A label that mke2fs or mkswap cuts: an imported config gets the label that the filesystem has today."""

import pytest

from tests.bootstrapper.importers.carrying import IGNITION, carried

SPEC = "diskSetup: {{filesystems: [{{device: /dev/sdb, filesystem: {kind}, label: {label}, partition: none}}]}}\n"
LONG = "a-label-of-twenty-by"


@pytest.mark.parametrize(
    ("before", "kind", "label", "expected", "reason"),
    [
        ("", "ext4", LONG, LONG[:16], "mke2fs cuts it"),
        ("", "swap", LONG, LONG[:15], "mkswap cuts it"),
        ("", "ext4", LONG[:16], LONG[:16], "as long as it may be"),
        (
            "",
            "ext4",
            "fifteen-letters\u00fc",
            "fifteen-letters\u00fc",
            "the cut would be within a letter: refused later",
        ),
        ("", "xfs", LONG, LONG, "mkfs.xfs makes no filesystem: refused later"),
        (IGNITION, "ext4", LONG, LONG, "Ignition refuses it today"),
    ],
)
def test_labels(before: str, kind: str, label: str, expected: str, reason: str) -> None:
    """It is reported at the label."""
    result = carried(before + SPEC.format(kind=kind, label=label))
    assert [each.label for each in result.spec.os.filesystems] == [expected], reason
    warned = [each.origin.path for each in result.diagnostics if each.code == "LABEL_CUT"]
    assert warned == ["spec.diskSetup.filesystems[0].label"] * (label != expected), reason
