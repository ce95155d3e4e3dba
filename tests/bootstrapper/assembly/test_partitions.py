"""Partitions by number or label: one rule for the names of devices, and what is refused."""

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.assembly.partitions import resolve_partitions, violations
from slipway.contract.paths import is_partition, partition_device
from slipway.v1alpha1 import os_pb2 as ospb

DEVICES = [
    ("/dev/sda", "/dev/sda2"),
    ("/dev/vdb", "/dev/vdb2"),
    ("/dev/xvdf", "/dev/xvdf2"),
    ("/dev/nvme0n1", "/dev/nvme0n1p2"),
    ("/dev/mmcblk0", "/dev/mmcblk0p2"),
    ("/dev/loop7", "/dev/loop7p2"),
    ("/dev/md127", "/dev/md127p2"),
    ("/dev/disk/by-id/nvme-disk_1", "/dev/disk/by-id/nvme-disk_1-part2"),
    ("/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "/dev/disk/by-path/pci-0000:00:1f.2-ata-1-part2"),
    ("/dev/disk/azure/scsi1/lun0", "/dev/disk/azure/scsi1/lun0-part2"),
]


@pytest.mark.parametrize(("disk", "partition"), DEVICES)
def test_the_device_of_a_partition(disk: str, partition: str) -> None:
    """Each naming kind has its own suffix, and only the whole name is one of a partition."""
    assert partition_device(disk, 2) == partition
    assert (is_partition(disk), is_partition(partition)) == (False, True)


def test_a_bundle_names_devices() -> None:
    """A reference by number or label is replaced by the device, and what names a device stays."""
    system = text_format.Parse(
        'disks { device: "/dev/nvme0n1" partitions { label: "a" } partitions { label: "b" } }'
        'filesystems { partition { disk: "/dev/nvme0n1" label: "b" } format: "ext4" }'
        'filesystems { device: "/dev/sdb" format: "ext4" }'
        'mounts { partition { disk: "/dev/sdc" number: 3 } path: "/m" } mounts { source: "tmpfs" path: "/n" }',
        ospb.OperatingSystem(),
    )
    assert list(violations(system, "os")) == []
    resolve_partitions(system)
    assert [filesystem.device for filesystem in system.filesystems] == ["/dev/nvme0n1p2", "/dev/sdb"]
    assert [mount.source for mount in system.mounts] == ["/dev/sdc3", "tmpfs"]
    assert not any(filesystem.HasField("partition") for filesystem in (*system.filesystems, *system.mounts))


@pytest.mark.parametrize(
    ("system", "path", "reason"),
    [
        ('filesystems { format: "ext4" }', "os.filesystems[0]", "no device"),
        ('filesystems { device: "/dev/b" partition { disk: "/dev/b" number: 1 } }', "os.filesystems[0]", "two devices"),
        ('mounts { path: "/m" }', "os.mounts[0]", "no source"),
        ('mounts { partition { disk: "/dev/b" } path: "/m" }', "os.mounts[0].partition", "no partition"),
        (
            'mounts { partition { disk: "ephemeral0" number: 1 } path: "/m" }',
            "os.mounts[0].partition.disk",
            "an alias of cloud-init's",
        ),
        (
            (
                'disks { device: "/dev/c" partitions { label: "a" } }'
                'mounts { partition { disk: "/dev/b" label: "a" } path: "/m" }'
            ),
            "os.mounts[0].partition.label",
            "another disk's label",
        ),
        (
            (
                'disks { device: "/dev/b" partitions { label: "a" } partitions { label: "a" } }'
                'mounts { partition { disk: "/dev/b" label: "a" } path: "/m" }'
            ),
            "os.mounts[0].partition.label",
            "two of that label",
        ),
    ],
)
def test_what_names_no_partition_is_refused(system: str, path: str, reason: str) -> None:
    """Each says where, and the disk that a label is looked for on is one of the spec's."""
    found = list(violations(text_format.Parse(system, ospb.OperatingSystem()), "os"))
    assert [one.path for one in found] == [path], reason
