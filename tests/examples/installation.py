"""Registry, bootstrapper and some provisioners with mutual TLS, as processes, for programs that are not ours."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tools.image.doors import Doors

OURS = {"cloud-init": "cloud_init", "ignition": "ignition", "talos": "talos", "windows": "windows"}
_WAIT_SECONDS = 180.0
_LEASE = ("--lease-ttl-seconds=15", "--renew-after-seconds=1", "--probe-seconds=1")


@dataclass(slots=True)
class Installation:
    """An installation on this machine; `stranger` is a provisioner that somebody else wrote, `own` those of ours."""

    folder: Path
    stranger: str
    own: Sequence[str] = ()
    addresses: dict[str, str] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def certificates(self) -> Path:
        """The folder with a folder of certificates for each name."""
        return self.folder / "certs"

    @property
    def doors(self) -> Doors:
        """How it is called."""
        return Doors(self.addresses["registry"], self.addresses["bootstrapper"], self.certificates)

    def start(self) -> None:
        """Start our services; they are not ready at once."""
        provisioners = [*self.own, self.stranger]
        self.addresses = {name: f"{LOOPBACK}:{free_port()}" for name in ("registry", "bootstrapper", *provisioners)}
        self.renew()
        self.service("registry")
        for name in self.own:
            self.run(name, [sys.executable, "-m", f"slipway.provisioners.{OURS[name]}"])
        self.service("bootstrapper")

    def renew(self) -> None:
        """Make certificates for everybody, by a new authority."""
        roles = {"registry": "registry", "bootstrapper": "bootstrapper", "client": "client"}
        roles |= dict.fromkeys([*self.own, self.stranger], "provisioner")
        subjects = [f"--subject={role}/{name}={LOOPBACK}" for name, role in roles.items()]
        command = [sys.executable, "-m", "slipway.certificates", str(self.certificates), *subjects]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def service(self, name: str) -> None:
        """Start the registry, or the bootstrapper."""
        allowed = f"--allowed-provisioners={','.join([*self.own, self.stranger])}"
        if name == "registry":
            self.run(name, [sys.executable, "-m", "slipway.registry", allowed, *_LEASE])
        else:
            kept = f"--credentials-dir={self.folder / 'credentials'}"
            callers = "--callers=spiffe://slipway/client/client"
            self.run(name, [sys.executable, "-m", "slipway.bootstrap_server", allowed, kept, callers])

    def run(self, name: str, command: Sequence[str]) -> None:
        """Start a program with the flags that every program of the contract takes."""
        flags = [
            f"--listen-address={self.addresses[name]}",
            f"--tls-cert-dir={self.certificates / name}",
            f"--registry-address={self.addresses['registry']}",
            "--drain-propagation-seconds=0",
        ]
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                [*command, *flags],
                env={**os.environ, "GRPC_VERBOSITY": "NONE"},
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip

    def end(self, name: str) -> int:
        """Ask a process to end; give its exit code."""
        process = self.processes.pop(name)
        process.terminate()
        return process.wait(timeout=60)

    def kill(self) -> None:
        """End what is left, whatever it takes."""
        for process in self.processes.values():
            process.kill()
            process.wait()

    def log(self, name: str) -> str:
        """What a program has said."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def said(self, name: str, text: str, *, times: int = 1) -> None:
        """Wait until a program has said something so often."""
        deadline = time.monotonic() + _WAIT_SECONDS
        while self.log(name).count(text) < times:
            assert time.monotonic() < deadline, f"{name} did not say {text!r} {times} times:\n{self.log(name)}"
            time.sleep(0.05)
