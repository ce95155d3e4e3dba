"""Keeps a site as long as whoever opened it lives, and cleans up after it: ``python -m tools.node.keeper SITE``.

A process of its own, because a test or a demo may be killed at any moment and could not clean up after itself. It reads
standard input: at the end of that, which a killed parent leaves behind too, everything ends. The word ``stay`` makes a
site outlive its parent; then SIGTERM ends it.
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from tools.node import cgroups, site_init
from tools.node.addresses import GATEWAY, PREFIX_LENGTH
from tools.node.process import Process
from tools.oracles import cache

STATE = "site.json"
ALIVE = ".alive"
STAY = b"stay\n"
_WALL = ("unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", "--propagation", "private")


def main(folder: Path) -> None:
    """Holds the site until told to end it."""
    alive = (folder / ALIVE).open("w")
    fcntl.flock(alive, fcntl.LOCK_EX)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    wake, waker = os.pipe()
    os.set_blocking(waker, False)
    signal.set_wakeup_fd(waker)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)
    init = [sys.executable, "-I", "-S", "-B", site_init.__file__, f"{GATEWAY}/{PREFIX_LENGTH}"]
    site = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *_WALL, *init],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    init_pid = 0
    try:
        if site.stdout and site.stdout.readline():
            init_pid = _only_child(site.pid)
            state = {"keeper": asdict(Process.of(os.getpid())), "init": asdict(Process.of(init_pid))}
            (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
            print("ready", flush=True)
            _wait(site, wake)
    finally:
        if init_pid and site.poll() is None:
            os.kill(init_pid, signal.SIGKILL)  # the kernel ends the whole namespace before it reports this end
        else:
            site.kill()
        site.wait()
        cgroups.remove(f"{folder.name}-")
        cache.discard(folder)
        alive.close()


def _only_child(pid: int) -> int:
    return int(Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()[0])


def _wait(site: subprocess.Popen[str], wake: int) -> None:
    """Until the parent is gone, a signal says so, or the site has died by itself."""
    with selectors.DefaultSelector() as selector:
        selector.register(wake, selectors.EVENT_READ)
        selector.register(0, selectors.EVENT_READ)
        while site.poll() is None:
            for key, _ in selector.select():
                data = os.read(key.fd, 4096)
                if key.fd == 0 and data == STAY:
                    selector.unregister(0)
                elif key.fd == 0 or set(data) & {signal.SIGINT, signal.SIGTERM}:
                    return


if __name__ == "__main__":
    main(Path(sys.argv[1]))
