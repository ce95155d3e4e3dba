"""Where built engines live, and how they get there without ever being half there.

Building a root or a Go validator takes minutes, and several processes may ask for the same one. So a build
happens beside its final place under a lock and is renamed into it; what carries the final name is whole.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path


def directory() -> Path:
    """The cache folder: ``$SLIPWAY_CACHE`` or ``~/.cache/slipway/engines``, made when absent."""
    configured = os.environ.get("SLIPWAY_CACHE")
    path = Path(configured) if configured else Path.home() / ".cache" / "slipway" / "engines"
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Holds the machine-wide lock of one cache entry; waits for another builder of the same entry."""
    with (directory() / f".{name}.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def in_use(name: str) -> Iterator[None]:
    """Holds a cache entry against removal by ``unused``; any number of users at a time."""
    with (directory() / f".{name}.use").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def unused(name: str) -> Iterator[bool]:
    """Gives whether nobody holds the entry ``in_use``; if so, nobody can take it up within the block."""
    lock = directory() / f".{name}.use"
    with lock.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
        lock.unlink()


@contextlib.contextmanager
def being_built(target: Path) -> Iterator[Path]:
    """Gives a fresh folder beside ``target``; it becomes ``target`` if the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    for leftover in target.parent.glob(f".{target.name}.building-*"):
        discard(leftover)
    beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.building-", dir=target.parent))
    beside.chmod(0o755)
    try:
        yield beside
        if target.exists():
            discard(target)
        beside.rename(target)
    finally:
        discard(beside)


def discard(path: Path) -> None:
    """Removes a tree that may hold read-only folders, but never steps over a mount point in it.

    Raises:
        OSError: something is mounted inside; removing it could reach the machine's own files.
    """
    if not path.exists():
        return
    inside = f"{path.resolve()}/"
    for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
        if f"{line.split()[1]}/".startswith(inside):
            raise OSError(f"{path} holds a mount point, it is left alone")
    shutil.rmtree(path, onerror=_make_removable)


def _make_removable(_function: object, path: str, error: object) -> None:
    # The last processes of a machine that ends may remove files of their own at the same time.
    if isinstance(error, tuple) and isinstance(error[1], FileNotFoundError):
        return
    with contextlib.suppress(FileNotFoundError):
        _remove_at_any_rate(path)


def _remove_at_any_rate(path: str) -> None:
    subprocess.run(["chattr", "-R", "-f", "-i", path], check=False, capture_output=True)
    parent = Path(path).parent
    parent.chmod(0o700)
    if Path(path).is_dir():
        Path(path).chmod(0o700)
        shutil.rmtree(path)
    else:
        Path(path).unlink(missing_ok=True)
