"""What the step for disks and filesystems is told; what it does is tried on block devices in qemu."""

from google.protobuf import text_format

from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.lowered_systems import LowerSystem

GUID = "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709"


def calls(lower: LowerSystem, system: str) -> list[str]:
    """Give the last lines of all steps."""
    done = lower(text_format.Parse(system, ospb.OperatingSystem()))
    assert done.refusals == []
    lines = [line for text in done.scripts.values() for line in text.splitlines()]
    return [line for line in lines if line.startswith(("table /", "filesystem /"))]


def test_tables(lower: LowerSystem) -> None:
    """Sizes, shares and the rest; kinds by GUID or code; only what may be overwritten is told so."""
    system = (
        'disks { device: "/dev/b" partitions { size_mib: 512 type: "swap" label: "a b" } partitions { } }'
        'disks { device: "/dev/c" overwrite: true table_type: PARTITION_TABLE_TYPE_MBR'
        " partitions { percentage: 25 } partitions { percentage: 75 } }"
        f'disks {{ device: "/dev/d" overwrite: false partitions {{ percentage: 50 type: "{GUID.lower()}" }} }}'
        'disks { device: "/dev/e" }'
    )
    assert calls(lower, system) == [
        (
            "table /dev/b '' gpt '512,type=0657FD6D-A4AB-43C4-84E5-0933C84B4F4F,name=\"a b\"'"
            " ,type=0FC63DAF-8483-4772-8E79-3D69D8477DE4"
        ),
        "table /dev/c x dos 25%,type=83 ,type=83",
        f"table /dev/d '' gpt 50%,type={GUID}",
        "table /dev/e '' gpt",
    ]


def test_filesystems(lower: LowerSystem) -> None:
    """Each kind by its program, with its own option for a label."""
    system = (
        'filesystems { device: "/dev/b1" format: "ext4" label: "it\'s" options: "-m" options: "0" }'
        'filesystems { device: "/dev/b2" format: "vfat" label: "A" overwrite: true }'
        'filesystems { device: "/dev/b3" format: "swap" overwrite: false }'
        'filesystems { device: "/dev/b4" format: "ext4" replace_format: "ntfs" }'
    )
    assert calls(lower, system) == [
        """filesystem /dev/b1 '' '' mkfs.ext4 -F -L 'it'"'"'s' -m 0""",
        "filesystem /dev/b2 x '' mkfs.vfat -n A",
        "filesystem /dev/b3 '' '' mkswap -f",
        "filesystem /dev/b4 '' ntfs mkfs.ext4 -F",
    ]
