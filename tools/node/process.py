"""A process that a file names: the same one as when the file was written, or none.

The kernel gives numbers of processes again, at the latest after a boot. Whoever is root and believes a number in an old
file ends, or enters, a process that it has never seen; so a start time and a boot go with the number.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
# Of /proc/PID/stat after the name in parentheses, which may hold blanks: the 22nd field of all, proc_pid_stat(5).
_START = 19


@dataclass(frozen=True, slots=True)
class Process:
    """A process of this machine, with what tells it from a later one of the same number.

    Attributes:
        pid: its number.
        start: when it started, in clock ticks since the boot.
        boot: id of the boot.
    """

    pid: int
    start: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> Process:
        """Gives the process that has the number now.

        Raises:
            ProcessLookupError: none has.
        """
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            raise ProcessLookupError(f"there is no process {pid}") from None
        return cls(pid, int(stat.rpartition(")")[2].split()[_START]), _BOOT.read_text(encoding="ascii").strip())

    @property
    def there(self) -> bool:
        """Whether it is still there, or waits to be reaped."""
        with contextlib.suppress(ProcessLookupError):
            return Process.of(self.pid) == self
        return False

    def held(self) -> int | None:
        """Gives a file descriptor of the process, which never comes to mean another one; None when it is gone."""
        with contextlib.suppress(ProcessLookupError):
            descriptor = os.pidfd_open(self.pid)
            if self.there:
                return descriptor
            os.close(descriptor)
        return None


def numbers(pid: int) -> list[int]:
    """The numbers of a process, from that which it has here to that in the innermost of its namespaces.

    Raises:
        FileNotFoundError, ProcessLookupError: it is gone.
    """
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    for line in status.splitlines():
        if line.startswith("NSpid:"):
            return [int(number) for number in line.split()[1:]]
    raise ProcessLookupError(f"process {pid} is about to be gone")
