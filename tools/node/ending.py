"""Why a machine is off, told while there is somebody to tell: its files go with its site.

A machine that ends by itself leaves its last words in three places: the status of systemd-nspawn, the launcher's log,
the console. What the kernel did to it stands in none of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.node import watchers

LOG, CONSOLE = "launcher", "console"
_LINES = 10
_COUNTERS = Path("/proc/vmstat")
_NOT_TEXT = re.compile(r"\x1b(\[[0-9;?!]*[A-Za-z]|[^\[])|[\x00-\x08\x0b-\x1f\x7f]")


def kills() -> int:
    """How many processes the kernel has killed for want of memory, on this whole machine since it was booted."""
    counters = dict(line.split() for line in _COUNTERS.read_text(encoding="ascii").splitlines())
    return int(counters.get("oom_kill", 0))


def cause(folder: Path, *, status: int | None, asked: str, kills_before: int) -> str:
    """Everything that is known of the end of a machine, as the rest of a sentence and the last lines of its logs.

    Args:
        folder: the machine's.
        status: of its launcher, as ``subprocess`` has it; None when another process had started it.
        asked: who switched it off, when somebody did.
        kills_before: what ``kills`` gave when it was switched on.
    """
    return (asked or _ended(status)) + circumstances(folder, kills_before=kills_before)


def circumstances(folder: Path, *, kills_before: int) -> str:
    """What the whole machine lacks, and the last lines of the launcher's log and of the console, under their names."""
    text = ""
    killed = kills() - kills_before
    if killed:
        text += f"; the kernel has killed {killed} processes since, for want of memory"
    if not watchers.free(1):
        text += "; root has no watcher of files left (fs.inotify.max_user_instances)"
    for name in (LOG, CONSOLE):
        lines = _lines(folder / name)
        if lines:
            text += f"\n--- its {name} ends:\n" + "\n".join(lines[-_LINES:])
    return text


def _ended(status: int | None) -> str:
    if status is None:
        return "how it ended is unknown"
    if status < 0:
        return f"its launcher was killed by signal {-status}"
    return f"it ended by itself, with {status}" if status else "it has powered itself off"


def _lines(path: Path) -> list[str]:
    if not path.exists():
        return []
    text = _NOT_TEXT.sub("", path.read_text(encoding="utf-8", errors="replace"))
    return [line.rstrip() for line in text.splitlines() if line.strip()]
