"""A machine to run engines on: an overlay over a read-only root, walled off from the host, gone afterwards.

The host side of ``sandbox_init.py``: it owns the scratch folder, the time limit and the cleaning up. What a
run leaves is read from the overlay's upper folder, so that the result is exactly what the engine changed.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tools.oracles import cache, network
from tools.oracles.failures import EngineBroken, EngineTimeout

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT: Mapping[str, str] = {"PATH": PATH, "LANG": "C.UTF-8", "SYSTEMD_OFFLINE": "1"}
_INIT = Path(__file__).with_name("sandbox_init.py")
_GRACE = 30.0
_SYSROOT = "/sysroot"


@dataclasses.dataclass(frozen=True, slots=True)
class File:
    """A file to put on a machine before anything runs there.

    With ``host`` it is a file of this machine, mounted read-only in its place: for programs, which are big.
    """

    content: bytes = b""
    mode: int = 0o644
    host: Path | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Command:
    """One program to run on the machine; ``timeout`` in seconds."""

    argv: tuple[str, ...]
    timeout: float = 120.0
    stdin: bytes = b""
    environment: Mapping[str, str] = dataclasses.field(default_factory=lambda: dict(ENVIRONMENT))


@dataclasses.dataclass(frozen=True, slots=True)
class Outcome:
    """How a command ended. A negative ``status`` is the number of the signal that killed it."""

    argv: tuple[str, ...]
    status: int
    output: bytes
    seconds: float
    timed_out: bool


class Sandbox:
    """One machine: its files last over sessions as on a disk, ``/run`` and processes do not."""

    def __init__(
        self, lower: Path, scratch: Path, *, hostname: str, sites: Sequence[network.Site] = (), neighbour: int = 0
    ) -> None:
        self.lower = lower
        self.scratch = scratch
        self.hostname = hostname
        self.sites = tuple(sites)
        self.neighbour = neighbour
        self.programs: dict[str, Path] = {}
        for name in ("upper", "work", "merged", "run"):
            (scratch / name).mkdir(mode=0o755)

    @property
    def upper(self) -> Path:
        """What the machine's disk holds beyond, or instead of, the root below."""
        return self.scratch / "upper"

    @property
    def run_directory(self) -> Path:
        """The machine's ``/run`` as the latest session left it."""
        return self.scratch / "run"

    @property
    def console(self) -> bytes:
        """Everything that was written to the machine's console so far."""
        path = self.scratch / "console"
        return path.read_bytes() if path.exists() else b""

    def session(
        self,
        commands: Sequence[Command],
        *,
        files: Mapping[str, File] | None = None,
        reboot: bool = True,
        initramfs: Path | None = None,
    ) -> list[Outcome]:
        """Runs the commands one after the other, in namespaces of their own.

        Args:
            commands: all of them run, whatever the status of the ones before.
            files: put there first, by absolute path.
            reboot: start with an empty ``/run``.
            initramfs: run the commands in this root, fresh each time, with the machine's disk at
                ``/sysroot``.

        Raises:
            EngineTimeout: the session as a whole had to be killed.
            EngineBroken: the machine could not be made.
        """
        if reboot:
            cache.discard(self.run_directory)
            self.run_directory.mkdir(mode=0o755)
        if initramfs:
            cache.discard(self.scratch / "initramfs")
            for name in ("upper", "work"):
                (self.scratch / "initramfs" / name).mkdir(mode=0o755, parents=True)
        self.programs |= {
            path.removeprefix(_SYSROOT if initramfs else ""): item.host
            for path, item in (files or {}).items()
            if item.host
        }
        order = {
            "mounts": {
                f"{_SYSROOT if initramfs else ''}{path}": str(host.resolve(strict=True))
                for path, host in self.programs.items()
            },
            "lower": str(self.lower),
            "initramfs": str(initramfs or ""),
            "scratch": str(self.scratch),
            "hostname": self.hostname,
            "network": network.order(self.sites),
            "neighbour": self.neighbour,
            "files": [
                {"path": path, "content": base64.b64encode(item.content).decode(), "mode": item.mode}
                for path, item in (files or {}).items()
            ],
            "commands": [
                {
                    "argv": command.argv,
                    "timeout": command.timeout,
                    "stdin": base64.b64encode(command.stdin).decode(),
                    "environment": dict(command.environment),
                }
                for command in commands
            ],
        }
        self._start(order, limit=sum(command.timeout for command in commands) + _GRACE)
        answers = json.loads((self.scratch / "outcomes.json").read_bytes())
        return [
            Outcome(
                command.argv,
                answer["status"],
                base64.b64decode(answer["output"]),
                answer["seconds"],
                answer["timed_out"],
            )
            for command, answer in zip(commands, answers, strict=True)
        ]

    def _start(self, order: Mapping[str, object], *, limit: float) -> None:
        (self.scratch / "outcomes.json").unlink(missing_ok=True)
        (self.scratch / "work").chmod(0o755)
        wall = [
            "unshare",
            "--mount",
            "--net",
            "--uts",
            "--ipc",
            "--pid",
            "--cgroup",
            "--fork",
            "--kill-child",
        ]
        # The kernel kills the machine when this process dies, however it dies.
        command = ["setpriv", "--pdeathsig", "KILL", "--", *wall, "--propagation", "private"]
        with subprocess.Popen(
            [*command, sys.executable, "-I", "-S", "-B", str(_INIT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                output, _ = process.communicate(json.dumps(order).encode(), timeout=limit)
            except subprocess.TimeoutExpired:
                raise EngineTimeout(f"killed after {limit:.0f} s") from None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode or not (self.scratch / "outcomes.json").exists():
            raise EngineBroken(f"sandbox ended with {process.returncode}: {output.decode(errors='replace')[-2000:]}")


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Gives an empty folder of its own and removes it afterwards; sweeps up after crashes, too."""
    home = cache.directory() / "scratch"
    home.mkdir(parents=True, exist_ok=True)
    _sweep(home)
    with cache.locked("scratch"):
        scratch = Path(tempfile.mkdtemp(dir=home))
        owner = (scratch / ".alive").open("w")
        fcntl.flock(owner, fcntl.LOCK_EX)
    scratch.chmod(0o755)
    try:
        yield scratch
    finally:
        cache.discard(scratch)
        owner.close()


@contextlib.contextmanager
def opened(
    lower: Path, *, hostname: str = "node0", sites: Sequence[network.Site] = (), neighbour: int = 0
) -> Iterator[Sandbox]:
    """Gives a fresh machine over ``lower``, which can reach ``sites``, and removes it afterwards.

    ``neighbour`` is a process whose network the machine shares; it cannot change it.
    """
    with scratch_folder() as scratch, cache.in_use(lower.name):
        yield Sandbox(lower, scratch, hostname=hostname, sites=sites, neighbour=neighbour)


def _sweep(home: Path) -> None:
    """Removes scratch folders whose owner is dead: nobody holds their lock any more."""
    with cache.locked("scratch"):
        for scratch in home.iterdir():
            with contextlib.suppress(OSError), (scratch / ".alive").open("a") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                cache.discard(scratch)
