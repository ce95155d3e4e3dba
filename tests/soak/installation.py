"""Slipway with mutual TLS beside a management cluster: registry, one provisioner and the controller as processes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.controller.manifests import ACCOUNT, NAMESPACE, cluster_part
from tools.bench.process_figures import rss_mib
from tools.cluster import listening
from tools.cluster.management import RunningCluster
from tools.cluster.processes import Process

EXTERNAL, EMBEDDED = "cloud-init", "ignition"
_PORTS = {"registry": 19445, "provisioner": 19446, "controller": 19447}
_SUBJECTS = {
    "registry": "registry/registry",
    "provisioner": f"provisioner/{EXTERNAL}",
    "controller": "bootstrapper/controller",
}
_LEASE = ("--lease-ttl-seconds=4", "--renew-after-seconds=0.5", "--probe-seconds=1")


@dataclass(frozen=True, slots=True)
class Usage:
    """What a process holds: memory in MiB, open files, threads."""

    rss_mib: float
    files: int
    threads: int

    @classmethod
    def of(cls, process: Process) -> Usage:
        """Read it of a process that runs."""
        folder = Path(f"/proc/{process.pid}")
        files, threads = (sum(1 for _ in (folder / name).iterdir()) for name in ("fd", "task"))
        return cls(rss_mib(process.pid), files, threads)


@dataclass(frozen=True)
class Installation:
    """The processes by name: registry, provisioner, controller."""

    cluster: RunningCluster
    processes: dict[str, Process] = field(default_factory=dict)

    def start(self) -> None:
        """Apply kinds and roles, make certificates, start everything."""
        self.cluster.apply(cluster_part())
        self.renew()
        registry = f"--registry-address={self._address('registry')}"
        kubeconfig = self.cluster.kubeconfig_of_account(NAMESPACE, ACCOUNT)
        self._run("registry", "slipway.registry", f"--allowed-provisioners={EXTERNAL}", *_LEASE)
        self._run("provisioner", "slipway.provisioners.cloud_init", registry)
        self._run(
            "controller", "slipway.controller", registry, f"--kubeconfig={kubeconfig}",
            f"--embedded-provisioners={EMBEDDED}", "--no-leader-elect", "--workload-servers=127.0.0.0/8",
        )  # fmt: skip

    def renew(self) -> None:
        """Make certificates of a new authority; all processes take them up."""
        subjects = [f"--subject={subject}={self.cluster.address}" for subject in _SUBJECTS.values()]
        command = [sys.executable, "-m", "slipway.certificates", str(self._certificates), *subjects]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @property
    def _certificates(self) -> Path:
        return self.cluster.directory / "certificates"

    def _address(self, name: str) -> str:
        return f"{self.cluster.address}:{_PORTS[name]}"

    def _run(self, name: str, module: str, *flags: str) -> None:
        folder = self._certificates / _SUBJECTS[name].partition("/")[2]
        command = (
            sys.executable, "-m", module, f"--listen-address={self._address(name)}", f"--tls-cert-dir={folder}",
            "--drain-propagation-seconds=0", *flags,
        )  # fmt: skip
        self.processes[name] = self.cluster.supervisor.process(
            f"slipway-{name}", command, ready=partial(listening.accepts, self.cluster.address, _PORTS[name])
        )
        self.processes[name].start()
