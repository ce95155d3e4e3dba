"""A workload cluster as ``kubeadm init`` leaves it in its API server: what machines join, without any machine.

Cluster information, bootstrap tokens and their cleaner, signers of kubelets' certificates and kubeadm's ConfigMaps are
real, so that ``kubeadm join --dry-run`` goes through discovery and TLS bootstrap with the data that Slipway rendered.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from tools.cluster import place
from tools.cluster.administration import Administration
from tools.cluster.api_server import SERVICES, ApiServer, Shape
from tools.cluster.client import Client
from tools.cluster.joining import kubeadm
from tools.cluster.processes import Supervisor
from tools.cluster.programs import KUBERNETES
from tools.oracles.failures import EngineBroken

Object = dict[str, Any]

POD_SUBNET = "192.168.0.0/16"
_CONTROLLERS = (
    "bootstrap-signer-controller", "token-cleaner-controller", "certificatesigningrequest-approving-controller",
    "certificatesigningrequest-signing-controller", "certificatesigningrequest-cleaner-controller",
    "namespace-controller",
)  # fmt: skip
_PHASES = ("upload-config all", "bootstrap-token")
_ADVERTISED = "192.0.2.1"  # kubeadm refuses loopback here; nobody ever connects to it.


class WorkloadCluster:
    """A real API server that machines of the cluster ``name`` would join."""

    def __init__(self, supervisor: Supervisor, directory: Path, *, name: str, programs: Path) -> None:
        self.name = name
        self._supervisor = supervisor
        self._directory = directory / f"workload-{name}"
        self._programs = programs
        self._ending = contextlib.ExitStack()

    def __enter__(self) -> Self:
        """Start it; errors as of ``ManagementCluster``."""
        address = self._ending.enter_context(place.address())
        self.administration = Administration(self._directory, address)
        shape = Shape(
            self._programs,
            name=f"{self.name}-",
            controllers=_CONTROLLERS,
            flags=("--enable-bootstrap-token-auth",),
            controller_flags=(
                f"--cluster-signing-cert-file={self._directory / 'ca.crt'}",
                f"--cluster-signing-key-file={self._directory / 'ca.key'}",
            ),
        )
        self.server = ApiServer(self._supervisor, self.administration, shape)
        self.server.start()
        self.server.start_controllers()
        self._initialize()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Give its address free; the supervisor ends its processes."""
        self._ending.close()

    @property
    def endpoint(self) -> tuple[str, int]:
        """Host and port for ``Cluster.spec.controlPlaneEndpoint``."""
        return self.administration.endpoint

    @property
    def client(self) -> Client:
        """A client that may do everything."""
        return self.administration.client

    def authority_secret(self, *, namespace: str = "default", cluster: str = "") -> Object:
        """The Secret with this cluster's authority, from which core or control plane make the kubeconfig."""
        return self.administration.authority_secret(cluster or self.name, namespace=namespace)

    def kubeconfig_secret(self, *, namespace: str = "default", cluster: str = "") -> Object:
        """The Secret with this cluster's kubeconfig, where nobody makes it from the authority."""
        return self.administration.kubeconfig_secret(cluster or self.name, namespace=namespace)

    def _initialize(self) -> None:
        """Leave in the API server what the phases of ``kubeadm init`` leave there."""
        host, port = self.endpoint
        version = "kubeadm.k8s.io/v1beta4"
        documents = [
            {
                "apiVersion": version,
                "kind": "InitConfiguration",
                "localAPIEndpoint": {"advertiseAddress": _ADVERTISED, "bindPort": port},
                "nodeRegistration": {"criSocket": "unix:///run/containerd/containerd.sock", "name": "none"},
            },
            {
                "apiVersion": version,
                "kind": "ClusterConfiguration",
                "clusterName": self.name,
                "kubernetesVersion": KUBERNETES,
                "controlPlaneEndpoint": f"{host}:{port}",
                "certificatesDir": str(self._directory),
                "networking": {"serviceSubnet": SERVICES, "podSubnet": POD_SUBNET, "dnsDomain": "cluster.local"},
            },
        ]
        config = self._directory / "init.yaml"
        config.write_text(yaml.safe_dump_all(documents))
        for phase in _PHASES:
            flags = (f"--config={config}", f"--kubeconfig={self.administration.kubeconfig}")
            done = kubeadm(self._programs, "init", "phase", *phase.split(), *flags, directory=self._directory)
            if done.returncode:
                raise EngineBroken(f"kubeadm init phase {phase}: {done.stdout[-2000:]}")
