"""A label that is too long: an imported config gets the label, or no filesystem, as today."""

import pytest

from slipway.contract.source_position import SourceError
from tests.bootstrapper.importers.carrying import IGNITION, carried

SPEC = "diskSetup: {{filesystems: [{{device: /dev/sdb, filesystem: {kind}, label: {label}, partition: none}}]}}\n"
LONG = "a-label-of-twenty-by"


@pytest.mark.parametrize(
    ("before", "kind", "label", "expected", "reason"),
    [
        ("", "ext4", LONG, LONG[:16], "mke2fs cuts it"),
        ("", "swap", LONG, LONG[:15], "mkswap cuts it"),
        ("", "ext4", LONG[:16], LONG[:16], "as long as it may be"),
        ("", "ext4", "fifteen-letters\u00fc", "fifteen-letters", "no part of a letter is left"),
    ],
)
def test_labels(before: str, kind: str, label: str, expected: str, reason: str) -> None:
    """It is reported at the label."""
    result = carried(before + SPEC.format(kind=kind, label=label))
    assert [each.label for each in result.spec.os.filesystems] == [expected], reason
    warned = [each.origin.path for each in result.diagnostics if each.code == "LABEL_CUT"]
    assert warned == ["spec.diskSetup.filesystems[0].label"] * (label != expected), reason


@pytest.mark.parametrize("partition", [", partition: none", ", partition: auto", ", partition: '1'", ""])
@pytest.mark.parametrize(("kind", "longest"), [("xfs", 12), ("vfat", 11), ("btrfs", 255)])
def test_no_filesystem_is_made_where_the_program_makes_none(kind: str, longest: int, partition: str) -> None:
    """cloud-init logs the failure today, and kubeadm runs; a step that failed would keep the machine from joining."""
    made = SPEC.replace(", partition: none", partition)
    for length in (longest, longest + 1):
        result = carried(made.format(kind=kind, label="a" * length))
        warned = [each.origin.path for each in result.diagnostics if each.code == "NO_EFFECT"]
        assert len(result.spec.os.filesystems) == (length == longest)
        assert warned == ["spec.diskSetup.filesystems[0].label"] * (length > longest)
        assert length == longest or not result.spec.extensions


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_ignition_takes_none(kind: str) -> None:
    """Today such a machine does not start: its config is invalid."""
    with pytest.raises(SourceError) as caught:
        carried(IGNITION + SPEC.format(kind=kind, label=LONG))
    assert [each.path for each in caught.value.problems] == ["spec.diskSetup.filesystems[0].label"]
