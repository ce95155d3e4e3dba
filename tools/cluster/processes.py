"""The programs of an environment as processes that can be ended, killed and started again, and never outlive it.

The kernel kills each of them with the thread that started it, which is therefore one of the supervisor's own: a test
run that is itself killed leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tools.cluster.failures import ProcessEnded
from tools.oracles.failures import EngineTimeout

_INTERVAL = 0.05
_READY = 120.0
_GRACE = 20.0
_LAST_LINES = 2000
# The kernel is asked to end the program with its owner; an owner who was gone before it was asked is seen by its
# absence.
_TIED = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')

Ready = Callable[[], bool]


class Process:
    """One program: its command stays the same over restarts, its log grows."""

    def __init__(
        self, spawner: ThreadPoolExecutor, command: Sequence[str], *, log: Path, env: Mapping[str, str], ready: Ready
    ) -> None:
        self._spawner = spawner
        self._command = (*_TIED, str(os.getpid()), *command)
        self._env = {"PATH": os.environ["PATH"], "HOME": str(log.parent), **env}
        self._ready = ready
        self._process: subprocess.Popen[bytes] | None = None
        self.log = log

    @property
    def pid(self) -> int:
        """Its process id.

        Raises:
            ProcessEnded: it does not run.
        """
        if self._process is None or self._process.poll() is not None:
            raise ProcessEnded(f"{self.log.stem} is not running; its log ends with:\n{self.tail()}")
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it runs, ready or not."""
        return self._process is not None and self._process.poll() is None

    @property
    def status(self) -> int | None:
        """How it has ended; None while it runs, and before it was started."""
        return None if self._process is None else self._process.poll()

    def wait_ended(self, seconds: float | None = None) -> int:
        """Wait until it has ended by itself; give its status.

        Raises:
            EngineTimeout: it still runs after so many seconds.
            ProcessEnded: it was never started.
        """
        if self._process is None:
            raise ProcessEnded(f"{self.log.stem} was not started")
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise EngineTimeout(f"{self.log.stem} has not ended; its log ends with:\n{self.tail()}") from None

    def start(self, *, wait: bool = True) -> None:
        """Start it, and wait until it is ready unless told not to; does nothing to a running one.

        Raises:
            ProcessEnded: it ended instead.
            EngineTimeout: it was not ready in time.
        """
        if not self.running:
            self._process = self._spawner.submit(self._spawn).result()
        if wait:
            self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until it serves; errors as of ``start``."""
        until = time.monotonic() + _READY
        while not self._ready():
            assert self.pid  # noqa: S101 a process that has ended will never be ready
            if time.monotonic() > until:
                raise EngineTimeout(
                    f"{self.log.stem} is not ready after {_READY:.0f} s; its log ends with:\n{self.tail()}"
                )
            time.sleep(_INTERVAL)

    def stop(self) -> None:
        """Let it end by itself, as a kubelet does: SIGTERM, and SIGKILL after some time."""
        if self.running:
            self.signal(signal.SIGCONT)
            self.signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._wait(_GRACE)
        self.kill()

    def kill(self) -> None:
        """End it at once, without a last word."""
        if self.running:
            self.signal(signal.SIGKILL)
            self._wait(None)

    def restart(self) -> None:
        """``stop`` and ``start``."""
        self.stop()
        self.start()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal: SIGSTOP makes a server that takes connections and never answers, until SIGCONT."""
        os.kill(self.pid, number)

    def tail(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-_LAST_LINES:] if self.log.exists() else ""

    def _wait(self, seconds: float | None) -> None:
        if self._process is not None:
            self._process.wait(seconds)

    def _spawn(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._env,
                cwd=self.log.parent,
                start_new_session=True,  # Ctrl-C at a terminal is for the owner alone.
            )


class Supervisor:
    """Holds the processes of one environment and ends them with it."""

    def __init__(self, logs: Path) -> None:
        logs.mkdir(parents=True, exist_ok=True)
        self._logs = logs
        self._spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")
        self._processes: list[Process] = []

    def process(
        self, name: str, command: Sequence[str], *, ready: Ready, env: Mapping[str, str] | None = None
    ) -> Process:
        """Make a process, not yet started; its log is ``NAME.log``."""
        made = Process(self._spawner, command, log=self._logs / f"{name}.log", env=env or {}, ready=ready)
        self._processes.append(made)
        return made

    @property
    def running(self) -> list[Process]:
        """Those that run now."""
        return [process for process in self._processes if process.running]

    def close(self) -> None:
        """End all of them at once: nothing of theirs is kept, and an API server waits long for those who watch it."""
        for process in reversed(self._processes):
            process.kill()
        self._spawner.shutdown()


@contextlib.contextmanager
def supervisor(logs: Path) -> Iterator[Supervisor]:
    """Give a supervisor, which ends its processes with the block."""
    made = Supervisor(logs)
    try:
        yield made
    finally:
        made.close()
