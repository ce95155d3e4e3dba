"""The TCP connections of a pod, as the kernel tells them."""

import ipaddress
import struct
from dataclasses import dataclass
from pathlib import Path

_LISTEN, _ESTABLISHED = 0x0A, 0x01


@dataclass(frozen=True, slots=True)
class Connection:
    """One side of a connection."""

    local: tuple[str, int]
    remote: tuple[str, int]


def listening(pid: int) -> set[int]:
    """Give the ports that a process's network namespace listens on for others."""
    return {local[1] for state, local, _ in _table(pid) if state == _LISTEN and not _is_loopback(local[0])}


def established(pid: int) -> set[Connection]:
    """Give its connections with others."""
    return {
        Connection(local, remote)
        for state, local, remote in _table(pid)
        if state == _ESTABLISHED and not _is_loopback(remote[0])
    }


def _table(pid: int) -> list[tuple[int, tuple[str, int], tuple[str, int]]]:
    lines = [line for name in ("tcp", "tcp6") for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]]
    fields = [line.split() for line in lines]
    return [(int(field[3], 16), _end(field[1]), _end(field[2])) for field in fields]


def _end(text: str) -> tuple[str, int]:
    """Read "0100007F:1F90": words in the byte order of this machine."""
    digits, _, port = text.partition(":")
    words = [int(digits[at : at + 8], 16) for at in range(0, len(digits), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    address = ipaddress.ip_address(packed)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address), int(port, 16)


def _is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback
