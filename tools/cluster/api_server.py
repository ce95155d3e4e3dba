"""An API server with its etcd and the few controllers without which it is not Kubernetes.

Management and workload cluster are both one of these. There is no kubelet and no scheduler: no pod ever runs. What it
was asked stands in the audit log.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.cluster import client, listening
from tools.cluster.administration import Administration
from tools.cluster.processes import Supervisor

ETCD_PORT = 12379
CONTROLLERS_PORT = 10257
SERVICES = "10.96.0.0/16"
CONTROLLERS = ("garbage-collector-controller", "clusterrole-aggregation-controller", "namespace-controller")


@dataclass(frozen=True, slots=True)
class Shape:
    """What an API server is to be.

    ``programs`` is the folder with the programs, ``name`` what stands before the names of its logs where one
    environment has several; ``flags`` and ``controller_flags`` come after our own.
    """

    programs: Path
    name: str = ""
    controllers: Sequence[str] = CONTROLLERS
    flags: Sequence[str] = ()
    controller_flags: Sequence[str] = ()


class ApiServer:
    """etcd, kube-apiserver and kube-controller-manager on one loopback address, each a process of its own."""

    def __init__(self, supervisor: Supervisor, administration: Administration, shape: Shape) -> None:
        """Prepare everything, start nothing; the directory is made for certificates, data and the audit log."""
        administration.create(f"{shape.name}slipway-loopback")
        self.administration = administration
        etcd = f"http://{administration.address}:{ETCD_PORT}"
        self.etcd = supervisor.process(
            f"{shape.name}etcd",
            _etcd(shape, administration, etcd),
            ready=lambda: listening.answers_ok(f"{etcd}/health"),
        )
        self.api_server = supervisor.process(
            f"{shape.name}kube-apiserver",
            (*_api_server(shape, administration, etcd), *shape.flags),
            ready=lambda: client.ready(administration.client.access),
        )
        self.controllers = supervisor.process(
            f"{shape.name}kube-controller-manager",
            (*_controllers(shape, administration), *shape.controller_flags),
            ready=lambda: True,
        )

    def start(self) -> None:
        """Start etcd and kube-apiserver, 2 to 4 seconds; kube-controller-manager is ``start_controllers``' matter."""
        self.etcd.start()
        self.api_server.start()

    def start_controllers(self) -> None:
        """Start kube-controller-manager.

        Best after all definitions were applied: its garbage collector looks for new kinds every 30 seconds only.
        """
        self.controllers.restart()


def _etcd(shape: Shape, administration: Administration, url: str) -> tuple[str, ...]:
    peers = f"http://{administration.address}:{ETCD_PORT + 1}"
    return (
        str(shape.programs / "etcd"), "--name=only", f"--data-dir={administration.directory / 'etcd'}",
        f"--listen-client-urls={url}", f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peers}", f"--initial-advertise-peer-urls={peers}", f"--initial-cluster=only={peers}",
        "--unsafe-no-fsync", "--log-level=warn",
    )  # fmt: skip


def _api_server(shape: Shape, administration: Administration, etcd: str) -> tuple[str, ...]:
    directory, (address, port) = administration.directory, administration.endpoint
    issuer = "https://kubernetes.default.svc"
    return (
        str(shape.programs / "kube-apiserver"), f"--etcd-servers={etcd}",
        f"--bind-address={address}", f"--advertise-address={address}", f"--secure-port={port}",
        f"--tls-cert-file={directory / 'serving/tls.crt'}", f"--tls-private-key-file={directory / 'serving/tls.key'}",
        f"--client-ca-file={directory / 'ca.crt'}", "--authorization-mode=RBAC",
        f"--service-cluster-ip-range={SERVICES}", f"--service-account-issuer={issuer}",
        f"--service-account-key-file={directory / 'sa.key'}",
        f"--service-account-signing-key-file={directory / 'sa.key'}",
        "--disable-admission-plugins=ServiceAccount", "--endpoint-reconciler-type=none", "--profiling=false",
        f"--audit-policy-file={directory / 'audit-policy.json'}", f"--audit-log-path={administration.audit.path}",
    )  # fmt: skip


def _controllers(shape: Shape, administration: Administration) -> tuple[str, ...]:
    return (
        str(shape.programs / "kube-controller-manager"), f"--kubeconfig={administration.kubeconfig}",
        "--leader-elect=false", f"--bind-address={administration.address}", f"--secure-port={CONTROLLERS_PORT}",
        f"--controllers={','.join(shape.controllers)}",
    )  # fmt: skip
