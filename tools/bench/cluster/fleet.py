"""Machines that wait for their data, as core leaves them when the infrastructure of their cluster is not ready yet.

What core does for that is done here: a thousand Machines would take it minutes. Its webhooks judge each object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from tools.cluster import applying
from tools.cluster.environment import Environment
from tools.cluster.topology import CORE, Topology
from tools.cluster.workload import WorkloadCluster

Object = dict[str, Any]

CORE_FLAGS = ("--kube-api-qps=1", "--kube-api-burst=50")
"""By which core, whose webhooks are needed, gets to hardly any machine by itself."""

_AT_ONCE = 4
_CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
_SINCE = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Fleet:
    """``clusters`` times ``machines`` workers in a namespace; ``config`` gives a config by its metadata."""

    cluster: Environment
    workload: WorkloadCluster
    namespace: str
    clusters: int
    machines: int
    config: Callable[[Object], Object] = field(repr=False)

    @property
    def names(self) -> list[str]:
        """The names of all machines."""
        return [f"{cluster}-{number}" for cluster in self._clusters() for number in range(self.machines)]

    def create(self) -> None:
        """Create everything: each config is its Machine's already, as core would make it."""
        client = self.cluster.client
        client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        for name in self._clusters():
            for secret in (self.workload.authority_secret, self.workload.kubeconfig_secret):
                client.create(secret(namespace=self.namespace, cluster=name))
            applying.apply(client, [self._topology(name)])
        with ThreadPoolExecutor(_AT_ONCE) as several:
            machines = several.map(client.create, self._machines())
            list(several.map(client.create, map(self._config, machines)))

    def make_ready(self) -> None:
        """Say, as core would, that infrastructure and control plane of every cluster are ready."""
        initialized = {
            "type": "ControlPlaneInitialized", "status": "True", "reason": "Initialized", "message": "",
            "lastTransitionTime": _SINCE,
        }  # fmt: skip
        for name in self._clusters():
            status = {
                "initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": True},
                "conditions": [initialized],
            }
            self.cluster.client.patch(self._topology(name), {"status": status}, subresource="status")

    def _clusters(self) -> list[str]:
        return [f"{self.namespace}-{number}" for number in range(self.clusters)]

    def _topology(self, name: str) -> Object:
        made = Topology(name, namespace=self.namespace).cluster(control_plane=False)[0]
        host, port = self.workload.endpoint
        made["spec"]["controlPlaneEndpoint"] = {"host": host, "port": port}
        return made

    def _metadata(self, name: str) -> Object:
        return {"name": name, "namespace": self.namespace, "labels": {_CLUSTER_NAME: name.rpartition("-")[0]}}

    def _config(self, machine: Object) -> Object:
        name, uid = machine["metadata"]["name"], machine["metadata"]["uid"]
        owner = {"apiVersion": CORE, "kind": "Machine", "name": name, "uid": uid, "controller": True}
        return self.config({**self._metadata(name), "ownerReferences": [owner]})

    def _machines(self) -> Iterable[Object]:
        topology = Topology("none")
        for name in self.names:
            metadata = self._metadata(name)
            config = self.config(metadata)
            group = config["apiVersion"].partition("/")[0]
            yield {
                "apiVersion": CORE,
                "kind": "Machine",
                "metadata": metadata,
                "spec": {
                    "clusterName": name.rpartition("-")[0],
                    "version": topology.version,
                    "bootstrap": {"configRef": {"apiGroup": group, "kind": config["kind"], "name": name}},
                    "infrastructureRef": {
                        "apiGroup": topology.infrastructure.api_version.partition("/")[0],
                        "kind": topology.infrastructure.kind("Machine"),
                        "name": name,
                    },
                },
            }
