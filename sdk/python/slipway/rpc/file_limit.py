"""Open files of a server process: each connection is one, and needs no certificate until it has been accepted.

Without bounds a thousand connections that send nothing take all files of a process. Then no other client can connect,
the probes of its health included, for which the process is killed.
"""

import sys
from dataclasses import dataclass

_MOST_FILES = 65_536
_FEWEST_FILES = 256


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Most connections of each port at a time; those beyond are closed at once. One costs some 50 KB of memory."""

    callers: int = 2048
    probes: int = 1024

    @classmethod
    def of_process(cls) -> "ConnectionLimits":
        """Give limits that leave a quarter of the process's files to its own work and to the metrics port."""
        files = _files()
        return cls(callers=min(cls().callers, files // 2), probes=min(cls().probes, files // 4))


def raise_file_limit() -> None:
    """Let the process have as many open files as it may, since the usual limit of 1,024 is one for old programs."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415  # not on Windows

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _files() -> int:
    if sys.platform == "win32":
        return _MOST_FILES
    import resource  # noqa: PLC0415  # not on Windows

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST_FILES if soft == resource.RLIM_INFINITY else max(soft, _FEWEST_FILES)
