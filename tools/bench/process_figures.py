"""CPU time and memory of a process, as the kernel tells."""

import os
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Give user and system time of a process in seconds, to a hundredth."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def rss_mib(pid: int) -> float:
    """Give the resident memory of a process in MiB."""
    return _status_mib(pid, "VmRSS:")


def peak_mib(pid: int) -> float:
    """Give the most resident memory that a process has had, in MiB."""
    return _status_mib(pid, "VmHWM:")


def _status_mib(pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name):
            return round(int(line.split()[1]) / 1024, 1)
    raise AssertionError(f"the kernel reports no {name}")


def machine() -> str:
    """Name the machine: processor model, number of cores, kernel."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{model}, {os.cpu_count()} cores, Linux {os.uname().release}"
