"""Control groups of our own for a machine: what it uses is its own account, and block devices are denied to it.

The denial sits one level above the machine, where nothing inside can lift it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tools.node import process

_FREEZE_SECONDS, _PAUSE = 5.0, 0.01
_ROOT = Path("/sys/fs/cgroup")
_DEVICES = "devices"
REFUSAL = (
    "this machine has no control groups of the first version (cgroup v1), and those deny block devices to machines:"
    " boot it with systemd.unified_cgroup_hierarchy=0 SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1 on the kernel's command line"
    " (systemd 258 and newer cannot do that), or use a virtual machine of Debian 12 or 13"
)
# Block devices; physical memory; the kernel's log.
_DENIED = ("b *:* rw", "c 1:1 rw", "c 1:2 rw", "c 1:11 rw")


def available() -> bool:
    """Whether this machine has the kind of groups in which devices can be denied."""
    return (_ROOT / _DEVICES / "devices.deny").exists()


def make(name: str) -> None:
    """Makes a group in every hierarchy, and one for the machine inside of it."""
    for hierarchy in _hierarchies():
        group = hierarchy / name
        group.mkdir()
        if hierarchy.name == "cpuset":
            (group / "cgroup.clone_children").write_text("1")
            for setting in ("cpuset.cpus", "cpuset.mems"):
                (group / setting).write_text((hierarchy / setting).read_text())
        if hierarchy.name == _DEVICES:
            for denied in _DENIED:
                (group / "devices.deny").write_text(denied)
        (group / "machine").mkdir()


def enter(name: str) -> None:
    """Moves this process, and what it will start, into the group of a machine."""
    for hierarchy in _hierarchies():
        (hierarchy / name / "machine" / "cgroup.procs").write_text(str(os.getpid()))


def kill(name: str, *, depth: int) -> None:
    """Kills the processes of a group at once: none goes on for a moment in which it sees the end of another.

    Args:
        name: the group.
        depth: of how many namespaces a process has to be a part; what starts and enters machines is in fewer.
    """
    group = _ROOT / "freezer" / name
    state = group / "freezer.state"
    state.write_text("FROZEN")
    try:
        deadline = time.monotonic() + _FREEZE_SECONDS
        while state.read_text().strip() != "FROZEN" and time.monotonic() < deadline:
            time.sleep(_PAUSE)
        for listing in group.rglob("cgroup.procs"):
            for number in map(int, listing.read_text().split()):
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    if len(process.numbers(number)) >= depth:
                        os.kill(number, signal.SIGKILL)
    finally:
        # What starts containers freezes their groups at times, and a process in a frozen group does not even end.
        for frozen in (state, *group.rglob("freezer.state")):
            with contextlib.suppress(OSError):
                frozen.write_text("THAWED")


def processor_seconds(name: str) -> float:
    """What the processes of a machine have used of the processors so far."""
    return int((_ROOT / "cpuacct" / name / "cpuacct.usage").read_text()) / 1e9


def remove(prefix: str) -> None:
    """Removes all groups whose name begins so, and that no process is in."""
    for hierarchy in _hierarchies():
        for group in hierarchy.glob(f"{prefix}*"):
            for folder, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):
                    Path(folder).rmdir()


def with_prefix(prefix: str) -> list[Path]:
    """The groups whose name begins so."""
    return [group for hierarchy in _hierarchies() for group in hierarchy.glob(f"{prefix}*")]


def _hierarchies() -> Iterator[Path]:
    for path in sorted(_ROOT.iterdir()):
        if (path / "cgroup.procs").exists() and not path.is_symlink():
            yield path
