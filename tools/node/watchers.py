"""Watchers of files (inotify), of which the kernel gives each user so many: all machines here share root's account.

The first process of a machine that gets none exits at once, and the machine is off before it has said anything; a
containerd that gets none says "too many open files". Whatever else root runs takes from the same account.
"""

from __future__ import annotations

import ctypes
import os
import time
from pathlib import Path

from tools.oracles.failures import EngineBroken

NEEDED = 28
"""What a machine must find: a control plane opens 16 in its first minute, and others may still be opening theirs."""

_LIMIT = Path("/proc/sys/fs/inotify/max_user_instances")
_PAUSE = 0.5


def free(wanted: int) -> int:
    """How many can be had now, up to as many as are wanted: tried, since the kernel tells nobody."""
    library = ctypes.CDLL(None, use_errno=True)
    opened: list[int] = []
    try:
        while len(opened) < wanted and (descriptor := library.inotify_init1(os.O_CLOEXEC)) >= 0:
            opened.append(descriptor)
    finally:
        for descriptor in opened:
            os.close(descriptor)
    return len(opened)


def wait_free(name: str, *, needed: int = NEEDED, timeout: float = 240.0) -> None:
    """Waits until there are enough for one more machine, or for whatever else needs so many.

    Raises:
        EngineBroken: there are not, ``timeout`` seconds later.
    """
    deadline = time.monotonic() + timeout
    while (there := free(needed)) < needed:
        if time.monotonic() > deadline:
            raise EngineBroken(
                f"{name} is not started: of the {_LIMIT.read_text(encoding='ascii').strip()} watchers of files that"
                f" root may have, {there} are left, and it needs {needed}; end other machines, or raise the limit:"
                " sysctl -w fs.inotify.max_user_instances=1024"
            )
        time.sleep(_PAUSE)
