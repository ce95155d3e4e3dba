"""A mount of an ignition config that hides what was written below it is reported by its own field."""

import pytest

from tests.bootstrapper.importers.carrying import IGNITION, carried

MADE = "diskSetup: {filesystems: [{device: /dev/sdb1, filesystem: ext4, label: data}]}\n"
NUMBERED = MADE.replace("sdb1,", "sdb, partition: '1',")
FILES = "files: [{path: /srv/a/b, content: x}, {path: /srv/ab, content: x}]\n"
SNIPPET = (
    "ignition: {containerLinuxConfig: {additionalConfig: "
    "'storage: {directories: [{filesystem: root, path: /srv/a/d}]}'}}\n"
)
CASES = [
    (FILES + "mounts: [[LABEL=data, /srv/a]]", [("spec.mounts[0][1]", ["spec.files[0]"])], "a file below it"),
    (FILES + "mounts: [[tmpfs, /mnt], [LABEL=data, /srv/a/b]]", [("spec.mounts[1][1]", ["spec.files[0]"])], "the file"),
    (FILES + "mounts: [[LABEL=data, /srv//]]", [("spec.mounts[0][1]", ["spec.files[0]", "spec.files[1]"])], "slashes"),
    (SNIPPET + "mounts: [[LABEL=data, /srv/a]]", [("spec.mounts[0][1]", ["storage.directories[0]"])], "of a snippet"),
    ("mounts: [[LABEL=data, /etc]]", [("spec.mounts[0][1]", ["what the image"])], "folders of the image"),
    ("mounts: [[LABEL=data, /var]]", [("spec.mounts[0][1]", ["what the image"])], "folders of the image"),
    (FILES + "mounts: [[LABEL=data, /mnt]]", [], "nothing below it"),
    (FILES + MADE + "mounts: [[data, /srv/a]]", [], "Ignition writes into what it makes"),
    (FILES + MADE + "mounts: [[LABEL=data, /srv/a]]", [], "the same by its label"),
    (FILES + NUMBERED + "mounts: [[data, /srv/a]]", [], "on a partition by its number"),
]


@pytest.mark.parametrize(("spec", "expected", "reason"), CASES, ids=[f"{case[2]} {case[0][-9:]}" for case in CASES])
def test_what_a_mount_hides_is_said(spec: str, expected: list[tuple[str, list[str]]], reason: str) -> None:
    """Today nothing is mounted there, so the files are seen."""
    warnings = [each for each in carried(IGNITION + spec).diagnostics if each.code == "MOUNT_HIDES"]
    assert [each.origin.path for each in warnings] == [path for path, _ in expected], reason
    for each, (_, hidden) in zip(warnings, expected, strict=True):
        assert all(name in each.message for name in hidden)


def test_mounts_of_cloud_config_come_before_its_files() -> None:
    """cloud-init mounts them before it writes."""
    assert [each.code for each in carried(FILES + "mounts: [[LABEL=data, /srv/a]]").diagnostics] == []


def test_a_mount_of_a_partition_by_number_has_a_source() -> None:
    """Its filesystem has no device of its own: the mount was of nothing."""
    (mount,) = carried(IGNITION + NUMBERED + "mounts: [[data, /srv/a]]").spec.os.mounts
    assert mount.source == "LABEL=data"
