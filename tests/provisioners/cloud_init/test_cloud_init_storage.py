"""Disks, filesystems, mounts and swap."""

from typing import Any

import pytest

from slipway.sdk import testing
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.cloud_init.documents import document, refusals


@pytest.mark.parametrize(
    ("partitions", "layout", "reason"),
    [
        ([{}], True, "one partition for all"),
        ([{"percentage": 100}], True, "the same, said in percent"),
        ([{"type": "swap"}], [[100, 82]], "one partition with a type"),
        ([{"percentage": 33}, {}], [33, 67], "the last takes the rest"),
        (
            [{"percentage": 10, "type": "lvm"}, {"percentage": 90, "type": "linux"}],
            [[10, "8e"], [90, 83]],
            "types by their codes",
        ),
    ],
)
def test_partitions(partitions: list[dict[str, Any]], layout: Any, reason: str) -> None:
    """Layouts are cloud-init's: percentages, or percentage and type."""
    disk = ospb.Disk(device="/dev/sdb", partitions=[ospb.Partition(**entry) for entry in partitions])
    assert document(ospb.OperatingSystem(disks=[disk]))["disk_setup"] == {
        "/dev/sdb": {"table_type": "gpt", "layout": layout}
    }, reason


@pytest.mark.parametrize(
    ("disk", "reason"),
    [
        (ospb.Disk(device="/dev/b"), "no partitions"),
        (ospb.Disk(device="/dev/b", partitions=[ospb.Partition(), ospb.Partition(percentage=5)]), "rest comes first"),
        (
            ospb.Disk(device="/dev/b", partitions=[ospb.Partition(percentage=60), ospb.Partition(percentage=50)]),
            "more than the disk",
        ),
        (ospb.Disk(device="/dev/b", partitions=[ospb.Partition(percentage=100), ospb.Partition()]), "no rest"),
        (ospb.Disk(device="/dev/b", partitions=[ospb.Partition(percentage=25)] * 2), "the end of the disk stays free"),
        (ospb.Disk(device="/dev/b", partitions=[ospb.Partition(percentage=25)]), "the same of one partition"),
        (
            ospb.Disk(
                device="/dev/b",
                table_type=ospb.PARTITION_TABLE_TYPE_MBR,
                partitions=[ospb.Partition(percentage=20)] * 5,
            ),
            "too many for DOS",
        ),
    ],
)
def test_disks_that_cloud_init_can_not_make(disk: ospb.Disk, reason: str) -> None:
    """A layout that cloud-init would get wrong is refused."""
    assert refusals(ospb.OperatingSystem(disks=[disk])) == ["os.disks[0]"], reason


CHECKED = 'found=$(wipefs -n %(device)s) && {{ {{ [ -n "$found" ]{0}; }} || {1} %(device)s; }}'


@pytest.mark.parametrize(
    ("fields", "expected", "command", "reason"),
    [
        ({}, {}, "mkfs.ext4 -F", "the device itself"),
        (
            {"label": "it's", "overwrite": False, "options": ["-E", "x y"]},
            {"label": "it's", "overwrite": False},
            """mkfs.ext4 -F -L 'it'"'"'s' -E 'x y'""",
            "label and options",
        ),
        ({"label": "100%"}, {"label": "100%"}, "mkfs.ext4 -F -L 100%%", "cloud-init substitutes in the command"),
        ({"format": "swap"}, {"filesystem": "swap"}, "mkswap -f", "swap is made by another program"),
        ({"format": "vfat", "label": "A"}, {"filesystem": "vfat", "label": "A"}, "mkfs.vfat -n A", "vfat's option"),
    ],
)
def test_a_filesystem_is_made_only_where_nothing_is(
    fields: dict[str, Any], expected: dict[str, Any], command: str, reason: str
) -> None:
    """Without `overwrite`, a command that looks first takes the place of cloud-init's own way."""
    filesystem = ospb.Filesystem(**({"device": "/dev/sdb", "format": "ext4"} | fields))
    (seen,) = document(ospb.OperatingSystem(filesystems=[filesystem]))["fs_setup"]
    wanted = (
        {"device": "/dev/sdb", "filesystem": "ext4", "partition": "none"}
        | expected
        | {"cmd": CHECKED.format("", command)}
    )
    assert seen == wanted, reason


def test_a_kind_that_may_be_replaced_is_the_only_one_that_is() -> None:
    """The command tells it by blkid, and leaves every other one alone."""
    filesystem = ospb.Filesystem(device="ephemeral0.1", format="ext4", replace_format="ntfs")
    (seen,) = document(ospb.OperatingSystem(filesystems=[filesystem]))["fs_setup"]
    condition = ' && [ "$(blkid -p -o value -s TYPE %(device)s)" != ntfs ]'
    assert seen["cmd"] == CHECKED.format(condition, "mkfs.ext4 -F")
    assert seen["replace_fs"] == "ntfs"
    assert "partition" not in seen, "it stands in cloud-init's own name of the partition"


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("ext4", {"label": "boot", "extra_opts": ["-v"]}),
        ("vfat", {"extra_opts": ["-n", "boot", "-v"]}),
        ("f2fs", {"extra_opts": ["-l", "boot", "-v"]}),
    ],
)
def test_what_may_be_overwritten_is_made_by_cloud_init_itself(kind: str, expected: dict[str, Any]) -> None:
    """cloud-init gives -L to every mkfs; one that does not know it would make no filesystem at all."""
    filesystem = ospb.Filesystem(device="/dev/sdb1", format=kind, label="boot", options=["-v"], overwrite=True)
    (seen,) = document(ospb.OperatingSystem(filesystems=[filesystem]))["fs_setup"]
    assert seen == {"device": "/dev/sdb1", "filesystem": kind, "partition": "none", "overwrite": True} | expected


def test_a_dotted_device_is_refused() -> None:
    """cloud-init would take what stands behind the dot for a partition, and make no filesystem at all."""
    filesystem = ospb.Filesystem(device="/dev/disk/by-path/pci-0000:1f.2-ata-1", format="ext4")
    assert refusals(ospb.OperatingSystem(filesystems=[filesystem])) == ["os.filesystems[0]"]


@pytest.mark.parametrize(
    ("kind", "longest"), [("ext4", 16), ("ext2", 16), ("xfs", 12), ("vfat", 11), ("swap", 15), ("btrfs", 255)]
)
@pytest.mark.parametrize("overwrite", [True, False])
def test_a_label_that_a_filesystem_does_not_hold_is_refused(kind: str, longest: int, *, overwrite: bool) -> None:
    """A program makes no filesystem of it, or one of another label; as long as it may be, it is taken."""
    filesystem = ospb.Filesystem(device="/dev/sdb1", format=kind, overwrite=overwrite, label="ü" + "x" * (longest - 2))
    assert document(ospb.OperatingSystem(filesystems=[filesystem]))["fs_setup"]
    filesystem.label += "x"
    assert refusals(ospb.OperatingSystem(filesystems=[filesystem])) == ["os.filesystems[0].label"]


@pytest.mark.parametrize(
    ("mount", "row", "reason"),
    [
        ({}, ["LABEL=x", "/x"], "cloud-init's own defaults, nofail among them"),
        ({"options": ["defaults", "nofail"]}, ["LABEL=x", "/x"], "no more than that is said"),
        ({"type": "xfs"}, ["LABEL=x", "/x", "xfs"], "only the type is said"),
        ({"options": ["ro", "noexec"]}, ["LABEL=x", "/x", "auto", "ro,noexec"], "options are said"),
        ({"check": True}, ["LABEL=x", "/x", "auto", "defaults", "0", "2"], "fields stand in their order"),
        ({"path": "none", "type": "swap"}, ["LABEL=x", "none", "swap"], "swap"),
    ],
)
def test_mounts(mount: dict[str, Any], row: list[str], reason: str) -> None:
    """Mounts are rows of fstab, all fields texts, as the schema wants them."""
    seen = document(ospb.OperatingSystem(mounts=[ospb.Mount(**({"source": "LABEL=x", "path": "/x"} | mount))]))
    assert seen["mounts"] == [row], reason


def test_a_mount_point_that_fstab_would_escape_is_refused() -> None:
    """cloud-init up to 25 writes it as it is, and fstab has another path."""
    assert refusals(ospb.OperatingSystem(mounts=[ospb.Mount(source="x", path="/a b")])) == ["os.mounts[0]"]


def test_a_mount_below_another_one_is_refused() -> None:
    """cloud-init would make its folder before the outer one is mounted over it; the runner mounts it in time."""
    mounts = [ospb.Mount(source=path[1:], path=path) for path in ("/a/b/", "/a", "/ab", "/a/b/c")]
    assert refusals(ospb.OperatingSystem(mounts=mounts)) == ["os.mounts[0]", "os.mounts[3]"]


@pytest.mark.parametrize("path", ["/", "/etc", "/var", "/var/", "/var/lib", "/var/lib/cloud"])
def test_a_mount_over_the_script_of_the_entry_point_is_refused(path: str) -> None:
    """cloud-init has written it by then, and nothing would start; without a script of ours the mount is as today."""
    bundle = testing.bundle(ospb.OperatingSystem(mounts=[ospb.Mount(source="/dev/sdb1", path=path)]))
    bundle.plan.entrypoint.ClearField("argv")
    assert document(bundle)["mounts"] == [["/dev/sdb1", path]]
    bundle.plan.entrypoint.argv.append("/var/lib/slipway/run")
    assert refusals(bundle) == ["os.mounts[0]"]


def test_swap_is_left_to_a_step() -> None:
    """cloud-init makes a swap file over any file that is there, so that nothing says it natively."""
    assert refusals(ospb.OperatingSystem(swaps=[ospb.Swap(path="/swap", size_mib=512)])) == ["os.swaps[0]"]
