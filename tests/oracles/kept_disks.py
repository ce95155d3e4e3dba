"""Disks that hold data before a machine's first boot, and what is left of it."""

import subprocess
from pathlib import Path
from typing import Any

from tools.oracles.qemu import BlockDevice, Bus

UUID = "5a11c0de-0000-4000-8000-00000000feed"
_MIB = 1 << 20
_SIZE_MIB = 320
"""Enough for xfs."""
_DATA_MIB = 32
_SECTORS = _MIB // 512


def devices(folder: Path, name: str) -> list[BlockDevice]:
    """The devices of one set; the one on NVMe is not named after it."""
    whole, table = folder / f"{name}-whole", folder / f"{name}-table"
    if not whole.exists():
        _filesystem(whole)
        _partition(whole, table)
    held = {
        "same": whole,
        "other": whole,
        "anyone": whole,
        "kind": whole,
        "table": table,
        "nottable": whole,
        "blank": None,
        "shares": None,
    }
    held |= {"replaced": whole}
    found = [BlockDevice(Bus.VIRTIO, f"{name}-{word}", _SIZE_MIB, file) for word, file in held.items()]
    return [*found, BlockDevice(Bus.NVME, f"{name}-nvme", _SIZE_MIB, table)]


def seen(note: dict[str, Any], name: str) -> dict[str, str]:
    """What each disk of a set holds: the data, by the identity of its filesystem, or what was made there."""
    serials = {one["name"]: one["serial"] for one in note["block"] if one["type"] == "disk"}
    found: dict[str, str] = {}
    for one in note["block"]:
        disk = max((disk for disk in serials if one["name"].startswith(disk)), key=len, default="")
        serial = serials.get(disk) or ""
        if not serial.startswith(f"{name}-"):
            continue
        part = one["name"].removeprefix(disk).removeprefix("p")
        what = "data" if one["uuid"] == UUID else f"{one['fstype'] or 'nothing'} {one['label'] or ''}".strip()
        found[serial.removeprefix(f"{name}-") + (f"-part{part}" if part else "")] = what
    return found


def _filesystem(path: Path) -> None:
    content = path.with_name(f"{path.name}-content")
    content.mkdir()
    (content / "kept").write_text("data\n", encoding="utf-8")
    command = ["mkfs.ext4", "-q", "-F", "-U", UUID, "-L", "same", "-d", content, path, f"{_DATA_MIB}M"]
    subprocess.run(command, check=True)


def _partition(whole: Path, table: Path) -> None:
    """One partition of a DOS table, from the second MiB on."""
    entry = b"\x00\x00\x02\x00\x83\xff\xff\xff"
    entry += _SECTORS.to_bytes(4, "little") + (_DATA_MIB * _SECTORS).to_bytes(4, "little")
    start = bytearray(_MIB)
    start[440:444] = b"quay"
    start[446:462] = entry
    start[510:512] = b"\x55\xaa"
    table.write_bytes(bytes(start) + whole.read_bytes())
