"""Disks, filesystems, and mounts as the units that systemd needs for them."""

from typing import Any

import pytest

from slipway.contract.errors import UnsupportedFeature
from slipway.sdk import testing
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.ignition.configs import config, refusals, storage_system, unit


def test_storage() -> None:
    """Partitions, filesystems and a mount that Ignition itself writes to, with a unit for later boots."""
    seen = config(storage_system())
    assert seen["storage"]["disks"] == [
        {
            "device": "/dev/sdb",
            "wipeTable": True,
            "partitions": [
                {"number": 1, "label": "a", "sizeMiB": 100, "typeGuid": "0657FD6D-A4AB-43C4-84E5-0933C84B4F4F"},
                {"number": 2},
            ],
        }
    ]
    assert seen["storage"]["filesystems"] == [
        {
            "device": "/dev/sdb2",
            "format": "ext4",
            "path": "/var/lib/my-data",
            "label": "data",
            "wipeFilesystem": True,
            "options": ["-m", "0"],
        }
    ]
    assert seen["systemd"]["units"][-1] == {
        "name": "var-lib-my\\x2ddata.mount",
        "enabled": True,
        "contents": "[Mount]\nWhat=/dev/disk/by-label/data\nWhere=/var/lib/my-data\n"
        "[Install]\nRequiredBy=local-fs.target\n",
    }


def test_storage_in_spec_2() -> None:
    """Spec 2 wraps filesystems, and nodes name the one that they lie on."""
    storage = config(storage_system(), "2.3.0")["storage"]
    assert storage["filesystems"] == [
        {
            "name": "fs0",
            "mount": {
                "device": "/dev/sdb2",
                "format": "ext4",
                "label": "data",
                "wipeFilesystem": True,
                "options": ["-m", "0"],
            },
        }
    ]
    (file,) = storage["files"]
    assert (file["filesystem"], file["path"]) == ("fs0", "/x")
    (directory,) = storage["directories"]
    assert (directory["filesystem"], directory["path"]) == ("fs0", "/")


def test_nested_filesystems_in_spec_2() -> None:
    """A node lies on the deepest filesystem above it, and next to one whose path only looks alike."""
    system = ospb.OperatingSystem(
        filesystems=[ospb.Filesystem(device=f"/dev/sd{name}1", format="ext4") for name in "bcd"],
        mounts=[
            ospb.Mount(source=f"/dev/sd{name}1", path=path)
            for name, path in (("b", "/a"), ("c", "/a/b"), ("d", "/a/bc"))
        ],
        files=[testing.file(path, b"") for path in ("/a/x", "/a/b/x", "/a/bc/x", "/ab")],
    )
    files = config(system, "2.3.0")["storage"]["files"]
    assert [(file["filesystem"], file["path"]) for file in files] == [
        ("fs0", "/x"),
        ("fs1", "/x"),
        ("fs2", "/x"),
        ("root", "/ab"),
    ]


@pytest.mark.parametrize(
    ("mount", "lines", "reason"),
    [
        ({"type": "xfs", "options": ["ro", "noexec"]}, ["Type=xfs", "Options=ro,noexec"], "type and options"),
        ({"type": "auto", "options": ["defaults"]}, [], "what the system does anyway is not said"),
        ({"options": ["nofail"]}, ["WantedBy=local-fs.target"], "the boot goes on without it"),
        ({"type": "nfs", "source": "host:/x"}, ["What=host:/x", "RequiredBy=remote-fs.target"], "after the network"),
        ({"options": ["_netdev"]}, ["Options=_netdev", "RequiredBy=remote-fs.target"], "after the network"),
        (
            {"check": True},
            ["Requires=systemd-fsck@dev-disk-by\\x2dlabel-data.service"],
            "checked before it is mounted",
        ),
        ({"source": "LABEL=my disk"}, ["What=/dev/disk/by-label/my\\x20disk"], "as udev spells it"),
        ({"source": "UUID=ab-cd"}, ["What=/dev/disk/by-uuid/ab-cd"], "a UUID"),
        ({"source": "/dev/sd%a"}, ["What=/dev/sd%%a"], "systemd would expand %a"),
    ],
)
def test_mount_units(mount: dict[str, Any], lines: list[str], reason: str) -> None:
    """What fstab says in a word is a key of a unit."""
    system = ospb.OperatingSystem(mounts=[ospb.Mount(**({"source": "LABEL=data", "path": "/x"} | mount))])
    contents = unit(system, "x.mount")["contents"].splitlines()
    assert set(lines) <= set(contents), reason
    if not lines:
        assert not any(line.startswith(("Type", "Options")) for line in contents)


def test_swap_is_a_swap_unit() -> None:
    """Swap has no path: its unit is named after the device."""
    system = ospb.OperatingSystem(mounts=[ospb.Mount(source="LABEL=swap", path="none", type="swap", options=["sw"])])
    assert unit(system, "dev-disk-by\\x2dlabel-swap.swap")["contents"] == (
        "[Swap]\nWhat=/dev/disk/by-label/swap\n[Install]\nWantedBy=swap.target\n"
    )


@pytest.mark.parametrize(
    ("mount", "reason"),
    [
        ({"options": ["noauto"]}, "a unit that is enabled is mounted"),
        ({"options": ["x-systemd.automount"]}, "known in fstab only"),
        ({"path": "none"}, "only swap has no path"),
        ({"type": "swap"}, "swap has no path"),
        ({"source": "LABEL=a\\b"}, "a backslash means something else in every place"),
        ({"path": "/a\nb"}, "a line break would be another key"),
    ],
)
def test_mounts_that_are_refused(mount: dict[str, Any], reason: str) -> None:
    """What a unit cannot say is refused."""
    system = ospb.OperatingSystem(mounts=[ospb.Mount(**({"source": "LABEL=data", "path": "/x"} | mount))])
    assert refusals(system) == ["os.mounts[0]"], reason


@pytest.mark.parametrize(
    ("system", "path", "reason"),
    [
        (ospb.OperatingSystem(disks=[ospb.Disk(device="/dev/b", overwrite=True)]), "os.disks[0]", "no partitions"),
        (
            ospb.OperatingSystem(disks=[ospb.Disk(device="sdb", overwrite=True, partitions=[ospb.Partition()])]),
            "os.disks[0]",
            "an alias of another system's",
        ),
        (
            ospb.OperatingSystem(
                disks=[
                    ospb.Disk(
                        device="/dev/b", overwrite=True, partitions=[ospb.Partition(), ospb.Partition(size_mib=1)]
                    )
                ]
            ),
            "os.disks[0]",
            "the rest must come last",
        ),
        (
            ospb.OperatingSystem(disks=[ospb.Disk(device="/dev/sdb", partitions=[ospb.Partition()])]),
            "os.disks[0]",
            "a filesystem on the whole disk would be lost",
        ),
        (
            ospb.OperatingSystem(filesystems=[ospb.Filesystem(device="/dev/sdb", format="ext4")]),
            "os.filesystems[0]",
            "a partition table would be lost",
        ),
        (
            ospb.OperatingSystem(filesystems=[ospb.Filesystem(device="/dev/b", format="ext3")]),
            "os.filesystems[0]",
            "Ignition does not make it",
        ),
        (
            ospb.OperatingSystem(filesystems=[ospb.Filesystem(device="/dev/b", format="xfs", label="x" * 13)]),
            "os.filesystems[0]",
            "the label is too long",
        ),
    ],
)
def test_storage_that_is_refused(system: ospb.OperatingSystem, path: str, reason: str) -> None:
    """What Ignition would fail the boot over is refused before there is a machine."""
    assert refusals(system) == [path], reason


@pytest.mark.parametrize("place", ["/var/", "/var", "//var", "/var/.", "/var/lib/.."])
@pytest.mark.parametrize("path", ["/var/lib/a", "/var"])
def test_a_file_below_a_later_mount_is_refused_by_the_name_of_the_mount(path: str, place: str) -> None:
    """The file may be one that stands for another item: what its author can change is the mount."""
    mounts = [
        ospb.Mount(source="tmpfs", path="/opt", type="tmpfs"),
        ospb.Mount(source="server:/x", path=place, type="nfs"),
    ]
    with pytest.raises(UnsupportedFeature) as caught:
        config(ospb.OperatingSystem(mounts=mounts, files=[testing.file(path, b"")]))
    (violation,) = caught.value.violations
    assert violation.path == "os.files[0]"
    assert "lies on os.mounts[1], which" in violation.description
