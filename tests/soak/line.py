"""The machines of a soak, one after another, in a cluster that is ready."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.soak.installation import EMBEDDED, EXTERNAL
from tools.bench.cluster.fleet import Fleet
from tools.cluster.environment import Environment
from tools.cluster.workload import WorkloadCluster

Object = dict[str, Any]

CONFIG = ("bootstrap.slipway.dev/v1alpha1", "SlipwayConfig")
_MOST_MACHINES = 200_000
_PROVISIONERS = (EXTERNAL, EMBEDDED)


@dataclass(frozen=True)
class Line(Fleet):
    """A fleet whose machines are created one by one."""

    @classmethod
    def ready(cls, cluster: Environment, workload: WorkloadCluster, namespace: str) -> Line:
        """Create the cluster, without a machine, and make it ready; machines have the two provisioners by turns."""
        empty = cls(cluster, workload, namespace, clusters=1, machines=0, config=_config)
        empty.create()
        empty.make_ready()
        return replace(empty, machines=_MOST_MACHINES)

    def pairs(self) -> Iterator[tuple[Object, Callable[[Object], Object]]]:
        """Give Machine after Machine, and what makes its config of the Machine that was created."""
        for machine in self._machines():
            yield machine, self._config


def provisioner_of(machine: str) -> str:
    """Give the provisioner of a machine, which its number decides."""
    return _PROVISIONERS[int(machine.rpartition("-")[2]) % len(_PROVISIONERS)]


def _config(metadata: Object) -> Object:
    api_version, kind = CONFIG
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": metadata,
        "spec": {
            "provisioner": {"name": provisioner_of(metadata["name"])},
            "kubernetes": {"engine": "kubeadm"},
            "os": {"files": [{"path": "/etc/hello", "content": {"text": "hello\n"}, "mode": "0644"}]},
        },
    }
