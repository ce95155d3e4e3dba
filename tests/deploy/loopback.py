"""The six services as plain processes with mutual TLS, with certificates by the setup program."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from slipway.cli.processes import LOOPBACK
from slipway.rpc.addresses import free_port
from tools.image.doors import Doors

PROVISIONERS = {
    "cloud-init": "slipway.provisioners.cloud_init",
    "ignition": "slipway.provisioners.ignition",
    "talos": "slipway.provisioners.talos",
    "windows": "slipway.provisioners.windows",
}
ROLES = {"registry": "registry", "bootstrapper": "bootstrapper", "client": "client"} | dict.fromkeys(
    PROVISIONERS, "provisioner"
)
_LEASE = ("--lease-ttl-seconds=4", "--renew-after-seconds=0.5", "--probe-seconds=1")
_NAMES = f"--allowed-provisioners={','.join(PROVISIONERS)}"


@dataclass(slots=True)
class Loopback:
    """An installation on this machine.

    Attributes:
        folder: where certificates, logs and credentials are.
        addresses: of each service, by name.
    """

    folder: Path
    addresses: Mapping[str, str] = field(
        default_factory=lambda: {name: f"{LOOPBACK}:{free_port()}" for name in ROLES if name != "client"}
    )
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def doors(self) -> Doors:
        """How it is called."""
        return Doors(self.addresses["registry"], self.addresses["bootstrapper"], self.folder / "certs")

    def renew(self) -> None:
        """Make certificates, or newer ones, by the setup program itself."""
        subjects = [f"--subject={role}/{name}={LOOPBACK}" for name, role in ROLES.items()]
        command = [sys.executable, "-m", "slipway.certificates", str(self.folder / "certs"), *subjects]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    def start(self) -> None:
        """Start all services; they are not ready at once."""
        self.renew()
        self._run("registry", "slipway.registry", _NAMES, *_LEASE)
        for name, module in PROVISIONERS.items():
            self._run(name, module)
        credentials = f"--credentials-dir={self.folder / 'credentials'}"
        self._run(
            "bootstrapper", "slipway.bootstrap_server", _NAMES, credentials, "--callers=spiffe://slipway/client/client"
        )

    def stop(self) -> dict[str, int]:
        """End all services as an orchestrator does; give their exit codes."""
        for process in self.processes.values():
            process.terminate()
        return {name: process.wait(timeout=15) for name, process in self.processes.items()}

    def kill(self) -> None:
        """End what is left, whatever it takes."""
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()

    def log(self, name: str) -> list[dict[str, object]]:
        """Give a service's log. A line that is not JSON is an error: somebody wrote past the log."""
        return [json.loads(line) for line in (self.folder / f"{name}.log").read_text(encoding="utf-8").splitlines()]

    def _run(self, name: str, module: str, *flags: str) -> None:
        common = [
            f"--listen-address={self.addresses[name]}",
            f"--tls-cert-dir={self.folder / 'certs' / name}",
            f"--registry-address={self.addresses['registry']}",
            "--drain-propagation-seconds=0",
        ]
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", module, *common, *flags],
                env={**os.environ, "GRPC_VERBOSITY": "NONE"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
