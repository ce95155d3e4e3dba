"""What is on the whole of a disk that the same spec divides, or on a partition that it does not make."""

import json

import pytest

from slipway.bootstrapper.assembly.divided_disks import violations
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

DISK = ospb.Disk(device="/dev/sdb", overwrite=True, partitions=[ospb.Partition(label="a"), ospb.Partition()])
WHOLE = ospb.Filesystem(device="/dev/sdb", format="ext4")
SEARCH = "cloud-init.example.com/partition-search"
NAMES = json.dumps([{"device": "/dev/sdb", "filesystem": "ext4", "partition": "auto"}])


@pytest.mark.parametrize(
    ("extension", "text", "count"),
    [
        (SEARCH, NAMES, 0),
        (SEARCH, NAMES.replace("/dev/sdb", "/dev/sdbc"), 1),
        (SEARCH, "no list of /dev/sdb", 1),
        (SEARCH, '["/dev/sdb"]', 1),
        ("ignition.example.com/config", NAMES, 1),
    ],
)
def test_only_a_search_for_a_partition_makes_the_disk_mean_one(extension: str, text: str, count: int) -> None:
    """A text of another extension that happens to have the name of the device does not."""
    entry = specpb.Extension(id=extension)
    entry.content.text = text
    assert len(list(violations(ospb.OperatingSystem(disks=[DISK], filesystems=[WHOLE]), "os", [entry]))) == count


@pytest.mark.parametrize(
    ("filesystem", "overwrite", "count"),
    [
        ({"partition": {"disk": "/dev/sdb", "number": 2}}, True, 0),
        ({"partition": {"disk": "/dev/sdb", "label": "a"}}, True, 0),
        ({"partition": {"disk": "/dev/sdb", "number": 3}}, True, 1),
        ({"partition": {"disk": "/dev/sdb", "number": 3}}, False, 0),
        ({"partition": {"disk": "/dev/sdc", "number": 3}}, True, 0),
        ({"device": "/dev/sdb3"}, True, 1),
        ({"device": "/dev/sdb3"}, False, 0),
        ({"device": "/dev/sdbc3"}, True, 0),
        ({"device": "/dev/sdb03"}, True, 0),
    ],
)
def test_a_partition_beyond_those_of_an_overwritten_disk_never_comes(
    filesystem: dict[str, object], overwrite: bool, count: int
) -> None:
    """Where the table may stay, the partition may be there already."""
    disk = ospb.Disk()
    disk.CopyFrom(DISK)
    disk.overwrite = overwrite
    system = ospb.OperatingSystem(disks=[disk], filesystems=[ospb.Filesystem(**filesystem)])  # type: ignore[arg-type]
    assert len(list(violations(system, "os", []))) == count


@pytest.mark.parametrize(
    ("whole", "other", "count"),
    [
        ("/dev/sdc", ospb.Filesystem(device="/dev/sdc1"), 1),
        ("/dev/nvme0n1", ospb.Filesystem(device="/dev/nvme0n1p2"), 1),
        ("/dev/sdc", ospb.Mount(source="/dev/sdc1", path="/data"), 1),
        ("/dev/sdc1", ospb.Filesystem(device="/dev/sdc2"), 0),
        ("/dev/sdc", ospb.Filesystem(device="/dev/sdd1"), 0),
        ("/dev/sdc", ospb.Mount(source="/dev/sdc", path="/data"), 0),
    ],
)
def test_a_disk_with_a_filesystem_on_its_whole_has_no_partitions(
    whole: str, other: ospb.Filesystem | ospb.Mount, count: int
) -> None:
    """Without an entry of disks nothing divides it: the partition never comes, or what is on it is lost."""
    system = ospb.OperatingSystem(filesystems=[ospb.Filesystem(device=whole, format="ext4")])
    (system.filesystems if isinstance(other, ospb.Filesystem) else system.mounts).append(other)  # type: ignore[arg-type]
    assert len(list(violations(system, "os", []))) == count
    searched = json.dumps([{"device": whole, "filesystem": "ext4", "partition": "auto"}])
    entry = specpb.Extension(id=SEARCH)
    entry.content.text = searched
    assert not list(violations(system, "os", [entry]))
