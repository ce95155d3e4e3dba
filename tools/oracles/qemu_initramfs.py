"""The initramfs of a machine in qemu: a shell, the drivers of its disk, and a script.

Written in the format that the kernel unpacks (cpio, "newc"), by the rules of its documentation in
driver-api/early-userspace/buffer-format.
"""

from __future__ import annotations

import lzma
import stat
from collections.abc import Iterator
from pathlib import Path

from tools.oracles.failures import EngineBroken

_DRIVERS = ("virtio_blk",)


def archive(root: Path, *, script: bytes, shell: Path) -> bytes:
    """The initramfs for the kernel of a root file system; `shell` is a static busybox."""
    executable, folder = stat.S_IFREG | 0o755, stat.S_IFDIR | 0o755
    entries = [("bin", folder, b""), ("bin/busybox", executable, shell.read_bytes()), ("init", executable, script)]
    entries.append(("modules", folder, b""))
    for number, module in enumerate(_modules(root)):
        entries.append((f"modules/{number}", stat.S_IFREG | 0o644, lzma.decompress(module.read_bytes())))
    parts = [_entry(name, mode, content, number) for number, (name, mode, content) in enumerate(entries, start=1)]
    return b"".join((*parts, _entry("TRAILER!!!", 0, b"", 0)))


def _modules(root: Path) -> Iterator[Path]:
    """The drivers' files in the order of loading."""
    (folder,) = (root / "usr/lib/modules").iterdir()
    needs = dict(line.split(":", 1) for line in (folder / "modules.dep").read_text(encoding="utf-8").splitlines())
    for driver in _DRIVERS:
        files = [path for path in needs if Path(path).name.split(".")[0] == driver]
        if not files:
            raise EngineBroken(f"the kernel has no module {driver}")
        for path in (*reversed(needs[files[0]].split()), files[0]):
            yield folder / path


def _entry(name: str, mode: int, content: bytes, number: int) -> bytes:
    numbers = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    header = b"070701" + b"".join(b"%08X" % value for value in numbers) + name.encode() + b"\0"
    return _padded(header) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
