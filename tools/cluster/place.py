"""A directory and a loopback address that belong to one environment alone.

All of 127.0.0.0/8 is loopback. An environment with an address of its own can use fixed ports, cannot meet another
one's, and what it writes into a kubeconfig stays true when a program is started again. The address is held by a
socket name, which the kernel frees with the process, and the directory by a lock: what nobody holds is swept.
"""

from __future__ import annotations

import contextlib
import fcntl
import random
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineTimeout

_LOCK = "lock"
_ATTEMPTS = 100
_INTERVAL = 0.1


@dataclass(frozen=True, slots=True)
class Place:
    """Where an environment lives: ``directory`` for its files, ``address`` for its servers."""

    directory: Path
    address: str


@contextlib.contextmanager
def reserve() -> Iterator[Place]:
    """Give a fresh place; at the end its files are removed, and those that a killed owner left behind, too.

    Raises:
        EngineBroken: no address is free.
    """
    with address() as own, contextlib.ExitStack() as held:
        with cache.locked("clusters"):  # Nobody sweeps a directory between its making and its lock.
            _sweep()
            directory = Path(tempfile.mkdtemp(dir=_all_places()))
            lock = held.enter_context((directory / _LOCK).open("w"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield Place(directory, own)
        finally:
            cache.discard(directory)


def held(directory: Path) -> bool:
    """Whether a process holds the place with this directory."""
    try:
        with (directory / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def wait_free(directory: Path, *, seconds: float) -> None:
    """Wait until nobody holds the place with this directory.

    Raises:
        EngineTimeout: it is still held.
    """
    end = time.monotonic() + seconds
    while held(directory):
        if time.monotonic() > end:
            raise EngineTimeout(f"{directory} is still in use after {seconds:.0f} s")
        time.sleep(_INTERVAL)


def _all_places() -> Path:
    folder = cache.directory() / "clusters"
    folder.mkdir(exist_ok=True)
    return folder


def _sweep() -> None:
    for directory in _all_places().iterdir():
        # A place without a lock is just being removed by its owner.
        with contextlib.suppress(FileNotFoundError), (directory / _LOCK).open("r+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            cache.discard(directory)


@contextlib.contextmanager
def address() -> Iterator[str]:
    """Give a loopback address that nobody else has, for the time of the block; errors as of ``reserve``."""
    for _ in range(_ATTEMPTS):
        # Not 127.0.0.0/16, where everybody else's servers are.
        numbers = (127, random.randint(1, 254), random.randint(0, 255), random.randint(1, 254))  # noqa: S311  # an address, no secret
        chosen = ".".join(map(str, numbers))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:
            try:
                held.bind(f"\0slipway-cluster-{chosen}")
            except OSError:
                continue
            yield chosen
            return
    raise EngineBroken("no free loopback address in 127.0.0.0/8")
