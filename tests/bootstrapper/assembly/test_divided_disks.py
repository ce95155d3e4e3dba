"""What may be on a disk that the same spec divides anew: only the partitions that it gets, each once."""

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.assembly.repetitions import violations
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

DISK = 'disks { device: "/dev/sdc" overwrite: true partitions { label: "A" } } '
WHOLE = 'filesystems { device: "/dev/sdc" }'
SEARCH = "cloud-init.slipway.dev/partition-search"
OTHER = "ignition.slipway.dev/config"
CASES = [
    ('filesystems { partition { disk: "/dev/sdc" number: 7 } }', "os.filesystems[0]", "a number that no partition has"),
    ('filesystems { device: "/dev/sdc7" }', "os.filesystems[0]", "the same by its device"),
    ('mounts { source: "/dev/sdc2" path: "/m" }', "os.mounts[0]", "nor can it be mounted"),
    ('mounts { source: "/dev/sdc" path: "/m" }', "os.mounts[0].source", "nor can the whole disk"),
    (
        'filesystems { partition { disk: "/dev/sdc" number: 1 } } filesystems { device: "/dev/sdc1" }',
        "os.filesystems[1]",
        "two names of one partition",
    ),
    (
        'filesystems { partition { disk: "/dev/sdc" label: "A" } } filesystems { device: "/dev/sdc1" }',
        "os.filesystems[1]",
        "the same by its label",
    ),
    (
        'filesystems { device: "/dev/sdc1" } mounts { partition { disk: "/dev/sdc" label: "A" } path: "/m" }',
        "",
        "a filesystem and its mount",
    ),
    ('filesystems { device: "/dev/sdd7" }', "", "another disk"),
]


@pytest.mark.parametrize(("system", "path", "reason"), CASES, ids=[case[2] for case in CASES])
def test_only_its_partitions_are_there(system: str, path: str, reason: str) -> None:
    """The machine would wait for a device that never comes, or write two filesystems to one."""
    read = text_format.Parse(DISK + system, ospb.OperatingSystem())
    assert [found.path for found in violations(read, "os")] == ([path] if path else []), reason


def test_partitions_of_a_table_that_stays_are_not_known() -> None:
    """A disk that is not overwritten may have more of them."""
    read = text_format.Parse(DISK + 'filesystems { device: "/dev/sdc7" }', ospb.OperatingSystem())
    read.disks[0].overwrite = False
    assert list(violations(read, "os")) == []


@pytest.mark.parametrize(
    ("name", "text", "paths"),
    [
        (SEARCH, '[{"device": "/dev/sdc"}]', []),
        (SEARCH, '[{"device": "/dev/sdc-note"}]', ["os.filesystems[0].device"]),
        (SEARCH, "[1, {}, {", ["os.filesystems[0].device"]),
        (OTHER, '[{"device": "/dev/sdc"}]', ["os.filesystems[0].device"]),
    ],
)
def test_only_a_search_for_a_partition_takes_the_disk(name: str, text: str, paths: list[str]) -> None:
    """Neither another extension that names the disk, nor a search on another."""
    extension = specpb.Extension(id=name)
    extension.content.text = text
    read = text_format.Parse(DISK + WHOLE, ospb.OperatingSystem())
    assert [found.path for found in violations(read, "os", [extension])] == paths
