"""Starts the provisioner itself, as the process contract says: by environment or by flags, and ended by SIGTERM."""

import asyncio
import contextlib
import os
import secrets
import signal
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONPATH", "PYTHONWARNINGS", "VIRTUAL_ENV", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True)
class Setup:
    """How a process of the provisioner is to be started.

    Attributes:
        listen: "host:port" to listen on; None to say nothing.
        tls_cert_dir: its certificate directory; None to say nothing.
        insecure: without TLS.
        registry: address of the registry; None for no registry.
        by_flags: say it by flags and not by the environment.
        environment: variables besides; they win over what the rest says.
        more_flags: flags besides.
        hostname: the host name that it sees, where this machine can give it another one; None for its own.
    """

    listen: str | None
    tls_cert_dir: Path | None = None
    insecure: bool = False
    registry: str | None = None
    by_flags: bool = False
    environment: Mapping[str, str] | None = None
    more_flags: tuple[str, ...] = ()
    hostname: str | None = None

    def flags(self) -> list[str]:
        """Give it as flags."""
        found: list[str] = []
        for name, value in self._values():
            found += [f"--{name}"] if name == "insecure" else [f"--{name}", value]
        return [*found, *self.more_flags]

    def variables(self) -> dict[str, str]:
        """Give it as variables of the environment."""
        return {f"SLIPWAY_{name.replace('-', '_').upper()}": value for name, value in self._values()}

    def _values(self) -> list[tuple[str, str]]:
        found = [
            ("listen-address", self.listen),
            ("tls-cert-dir", None if self.tls_cert_dir is None else str(self.tls_cert_dir)),
            ("insecure", "true" if self.insecure else None),
            ("registry-address", self.registry),
        ]
        return [(name, value) for name, value in found if value is not None]


class Running(Protocol):
    """A process that was started."""

    @property
    def memory(self) -> int:
        """Bytes that it holds in memory; 0 when nobody knows."""

    def output(self) -> bytes:
        """Give what it has written so far, standard output and error together."""

    def terminate(self) -> None:
        """Ask it to end, by SIGTERM."""

    async def ended(self, seconds: float) -> int | None:
        """Wait until it has ended, and give its exit code; None when it still runs after so many seconds."""

    async def kill(self) -> None:
        """End it at once and clean up."""


class Launcher(Protocol):
    """Starts processes of the provisioner."""

    async def start(self, setup: Setup) -> Running:
        """Start one; it may take a while until it serves."""


class ProcessLauncher:
    """Starts real processes."""

    def __init__(self, command: Sequence[str]) -> None:
        """Start this program with these arguments."""
        self._command = tuple(command)

    async def start(self, setup: Setup) -> "RunningProcess":
        """Start one, with an environment of its own.

        Raises:
            OSError: the program cannot be started.
        """
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        said = {} if setup.by_flags else setup.variables()
        process = await asyncio.create_subprocess_exec(
            *(await _elsewhere(setup.hostname) if setup.hostname else ()),
            *self._command,
            *(setup.flags() if setup.by_flags else ()),
            env={**kept, **said, **(setup.environment or {})},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        return RunningProcess(process)


async def _elsewhere(hostname: str) -> tuple[str, ...]:
    """Give what to put in front of a command to have it see another host name; nothing where that cannot be done."""
    rights = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    words = ("unshare", *rights, "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', hostname)
    try:
        tried = await asyncio.create_subprocess_exec(
            *words,
            "true",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return ()
    return words if await tried.wait() == 0 else ()


class RunningProcess:
    """One process, whose output is gathered as it comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        """Gather the output of a process that was just started."""
        self._process = process
        self._output = bytearray()
        self._reader = asyncio.ensure_future(self._read())

    @property
    def memory(self) -> int:
        """Bytes that it holds in memory; 0 when nobody knows."""
        try:
            status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii", errors="replace")
        except OSError:
            return 0
        for line in status.splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    def output(self) -> bytes:
        """Give what it has written so far."""
        return bytes(self._output)

    def terminate(self) -> None:
        """Send SIGTERM to the process itself."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)

    async def ended(self, seconds: float) -> int | None:
        """Wait for its exit code."""
        try:
            async with asyncio.timeout(seconds):
                return await self._process.wait()
        except TimeoutError:
            return None

    async def kill(self) -> None:
        """End it and whatever it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        await self._reader

    async def _read(self) -> None:
        stream = self._process.stdout
        while stream is not None and (chunk := await stream.read(65536)):
            self._output += chunk


_PORTS = range(15_000, 32_000)
"""Below those that the system gives to clients: one of them could be taken before the process listens."""


def free_port() -> int:
    """Give a TCP port of the loopback interface that nobody listens on now."""
    while True:
        port = secrets.choice(_PORTS)
        with socket.socket() as found, contextlib.suppress(OSError):
            found.bind(("127.0.0.1", port))
            return port


def free_address() -> str:
    """Give a loopback address that nobody listens on now."""
    return f"127.0.0.1:{free_port()}"
