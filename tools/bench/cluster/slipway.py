"""Slipway as a bootstrap provider: registry, one provisioner and the controller, each a process of its own."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from tools.bench.cluster.contender import KUBEADM, Contender, Limits
from tools.cluster.management import RunningCluster
from tools.cluster.processes import Process

Object = dict[str, Any]

_MANIFESTS = Path(__file__).resolve().parents[3] / "deploy" / "kubernetes"
_ACCOUNT = ("slipway-system", "slipway-controller")
_PORTS = {"registry": 19445, "provisioner": 19446, "controller": 19447}
# The controller takes no more than these; the highest of them are no limit.
_MOST = (10_000, 20_000)


def _config(metadata: Object) -> Object:
    return {
        "apiVersion": "bootstrap.slipway.dev/v1alpha1",
        "kind": "SlipwayConfig",
        "metadata": metadata,
        "spec": {
            "provisioner": {"name": "cloud-init"},
            "kubernetes": {"engine": "kubeadm"},
            "os": {"files": [{"path": "/etc/hello", "content": {"text": "hello\n"}, "mode": "0644"}]},
        },
    }


def _processes(cluster: RunningCluster, limits: Limits, run: str) -> Sequence[Process]:
    cluster.apply(_needed())
    address = {name: f"{cluster.address}:{port}" for name, port in _PORTS.items()}
    flags = [
        f"--kube-api-{word}={min(value, most)}"
        for word, value, most in zip(("qps", "burst"), limits.management or (), _MOST, strict=False)
    ]
    registry = f"--registry-address={address['registry']}"
    programs = {
        "registry": ("slipway.registry",),
        "provisioner": ("slipway.provisioners.cloud_init", registry),
        "controller": (
            "slipway.controller", registry, f"--kubeconfig={cluster.kubeconfig_of_account(*_ACCOUNT)}",
            f"--lease-namespace={_ACCOUNT[0]}", "--workload-servers=127.0.0.0/8", *flags,
        ),
    }  # fmt: skip
    return [
        cluster.supervisor.process(
            f"slipway-{name}-{run}",
            (sys.executable, "-m", module, "--insecure", f"--listen-address={address[name]}", *more),
            ready=_listens(address[name]),
        )
        for name, (module, *more) in programs.items()
    ]


def _needed() -> list[Object]:
    """Kinds, namespace, accounts and roles, as they are deployed."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _ACCOUNT[0]}}
    files = [path for folder in ("crd", "rbac") for path in sorted((_MANIFESTS / folder).glob("*.yaml"))]
    texts = [path.read_text(encoding="utf-8") for path in files if path.name != "kustomization.yaml"]
    return [namespace, *(document for text in texts for document in yaml.safe_load_all(text) if document)]


def _listens(address: str) -> Callable[[], bool]:
    host, _, port = address.rpartition(":")
    return partial(_connects, host, int(port))


def _connects(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), timeout=1.0).close()
    except OSError:
        return False
    return True


SLIPWAY = Contender("Slipway 0.1.0", _ACCOUNT, _config, _processes)
CONTENDERS = (KUBEADM, SLIPWAY)
