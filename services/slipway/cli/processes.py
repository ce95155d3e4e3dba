"""All of Slipway on this machine, each service a process of its own that speaks only gRPC.

`slipway up`, the demo and the tests start it in the same way.
"""

import asyncio
import signal
import sys
from dataclasses import dataclass, field
from pathlib import Path

from slipway.embedded.provisioners import NAMES
from slipway.rpc.addresses import free_port

PROVISIONERS = tuple(name.replace("-", "_") for name in NAMES)
"""Names of the packages of our provisioners, each of which is a program."""
_STOP_SECONDS = 15.0
LOOPBACK = "127.0.0.1"


@dataclass(slots=True)
class Process:
    """A service that runs."""

    name: str
    address: str
    handle: asyncio.subprocess.Process

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self.handle.returncode is None

    async def stop(self) -> int:
        """Ask it to end, and give its exit code; it is killed when it has not ended after 15 seconds."""
        if self.handle.returncode is None:
            self.handle.send_signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(self.handle.wait(), _STOP_SECONDS)
            except TimeoutError:
                self.handle.kill()
        return await self.handle.wait()

    async def kill(self) -> None:
        """End it at once, as a crash would."""
        if self.handle.returncode is None:
            self.handle.kill()
        await self.handle.wait()


@dataclass(slots=True)
class LocalServices:
    """Registry, bootstrapper and provisioners on loopback addresses, without TLS.

    Attributes:
        logs: folder for one log file a service.
        credentials: directory of the clusters' secrets.
        registry: address of the registry.
        bootstrapper: address of the bootstrapper.
        profiles: directory with OS profiles of the user's own.
        processes: what runs, by name.
    """

    logs: Path
    credentials: Path
    registry: str = field(default_factory=lambda: f"{LOOPBACK}:{free_port()}")
    bootstrapper: str = field(default_factory=lambda: f"{LOOPBACK}:{free_port()}")
    profiles: Path | None = None
    processes: dict[str, Process] = field(default_factory=dict)

    async def start(self) -> None:
        """Start everything; it is not ready at once."""
        self.logs.mkdir(parents=True, exist_ok=True)
        await self.run("registry", "slipway.registry", self.registry)
        for name in PROVISIONERS:
            await self.start_provisioner(name)
        flags = ["--registry-address", self.registry, "--credentials-dir", str(self.credentials)]
        if self.profiles is not None:
            flags += ["--profiles-dir", str(self.profiles)]
        await self.run("bootstrapper", "slipway.bootstrap_server", self.bootstrapper, *flags)

    async def start_provisioner(self, module: str, *, name: str = "") -> Process:
        """Start one of our provisioners; `name`, its own where none is given, identifies an instance."""
        address, name = f"{LOOPBACK}:{free_port()}", name or module.replace("_", "-")
        return await self.run(name, f"slipway.provisioners.{module}", address, "--registry-address", self.registry)

    async def run(self, name: str, module: str, address: str, *flags: str) -> Process:
        """Start a service of ours."""
        with (self.logs / f"{name}.log").open("ab") as log:
            handle = await asyncio.create_subprocess_exec(
                sys.executable, "-m", module, "--listen-address", address, "--insecure", "--log-format", "json", *flags,
                stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        self.processes[name] = Process(name, address, handle)
        return self.processes[name]

    def dead(self) -> list[str]:
        """Give the names of services that have ended."""
        return [name for name, process in self.processes.items() if not process.running]

    def last_words(self, name: str, *, lines: int = 3) -> list[str]:
        """Give the last lines of a service's log."""
        log = self.logs / f"{name}.log"
        return log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:] if log.exists() else []

    async def stop(self) -> None:
        """End everything, provisioners first, so that they can still deregister."""
        rest = [name for name in self.processes if name != "registry"]
        await asyncio.gather(*(self.processes[name].stop() for name in rest))
        if "registry" in self.processes:
            await self.processes["registry"].stop()
