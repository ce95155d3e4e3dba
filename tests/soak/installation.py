"""Slipway with mutual TLS beside a management cluster: registry, one provisioner and the controller as processes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tests.controller.manifests import ACCOUNT, NAMESPACE, cluster_part
from tests.soak.usage import ObservedController
from tools.cluster import listening
from tools.cluster.api_server import CONTROLLERS, CONTROLLERS_PORT
from tools.cluster.management import RunningCluster
from tools.cluster.processes import Process

EXTERNAL, EMBEDDED = "cloud-init", "ignition"
_OBSERVED = Path(__file__).with_name("observed_controller.py")
_PORTS = {"registry": 19445, "provisioner": 19446, "controller": 19447}
_METRICS_PORT = 19448
_SUBJECTS = {
    "registry": "registry/registry",
    "provisioner": f"provisioner/{EXTERNAL}",
    "controller": "bootstrapper/controller",
}
_LEASE = ("--lease-ttl-seconds=4", "--renew-after-seconds=0.5", "--probe-seconds=1")
_TOKEN = "--bootstrap-token-ttl-seconds=60"
"""Tokens are refreshed while machines wait for a server; what is due later is not due long after a machine is gone."""
_COLLECTS_FAST = ("--kube-api-qps=400", "--kube-api-burst=800")
"""By its defaults Kubernetes' garbage collector deletes 20 objects a second, and each machine here has two."""


@dataclass(frozen=True)
class Installation:
    """The processes by name: registry, provisioner, controller."""

    cluster: RunningCluster
    processes: dict[str, Process] = field(default_factory=dict)

    def start(self) -> None:
        """Apply kinds and roles, make certificates, start everything."""
        self.cluster.apply(cluster_part())
        self._collect_fast()
        self.renew()
        registry = f"--registry-address={self._address('registry')}"
        kubeconfig = self.cluster.kubeconfig_of_account(NAMESPACE, ACCOUNT)
        self._run("registry", "-m", "slipway.registry", f"--allowed-provisioners={EXTERNAL}", *_LEASE)
        self._run("provisioner", "-m", "slipway.provisioners.cloud_init", registry)
        self._run(
            "controller", str(_OBSERVED), str(self._tasks_file), registry, f"--kubeconfig={kubeconfig}",
            f"--embedded-provisioners={EMBEDDED}", f"--allowed-provisioners={EMBEDDED},{EXTERNAL}",
            "--no-leader-elect", "--workload-servers=127.0.0.0/8", _TOKEN, f"--metrics-address={self._metrics_address}",
        )  # fmt: skip

    def renew(self) -> None:
        """Make certificates of a new authority; all processes take them up."""
        subjects = [f"--subject={subject}={self.cluster.address}" for subject in _SUBJECTS.values()]
        command = [sys.executable, "-m", "slipway.certificates", str(self._certificates), *subjects]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    @property
    def controller(self) -> ObservedController:
        """The controller, and what it holds."""
        return ObservedController(self.processes["controller"], self._tasks_file, self._metrics_address)

    @property
    def _certificates(self) -> Path:
        return self.cluster.directory / "certificates"

    @property
    def _tasks_file(self) -> Path:
        return self.cluster.directory / "tasks.json"

    @property
    def _metrics_address(self) -> str:
        return f"{self.cluster.address}:{_METRICS_PORT}"

    def _address(self, name: str) -> str:
        return f"{self.cluster.address}:{_PORTS[name]}"

    def _collect_fast(self) -> None:
        """Replace Kubernetes' controllers by the same ones with a higher rate of calls."""
        self.cluster.server.controllers.stop()
        command = (
            str(self.cluster.programs / "kube-controller-manager"), f"--kubeconfig={self.cluster.kubeconfig}",
            "--leader-elect=false", f"--bind-address={self.cluster.address}", f"--secure-port={CONTROLLERS_PORT}",
            f"--controllers={','.join(CONTROLLERS)}", *_COLLECTS_FAST,
        )  # fmt: skip
        self.cluster.supervisor.process("fast-controllers", command, ready=lambda: True).start()

    def _run(self, name: str, *words: str) -> None:
        folder = self._certificates / _SUBJECTS[name].partition("/")[2]
        command = (
            sys.executable, *words, f"--listen-address={self._address(name)}", f"--tls-cert-dir={folder}",
            "--drain-propagation-seconds=0",
        )  # fmt: skip
        self.processes[name] = self.cluster.supervisor.process(
            f"slipway-{name}", command, ready=partial(listening.accepts, self.cluster.address, _PORTS[name])
        )
        self.processes[name].start()
