"""Documents of clusters for this environment: Cluster, control plane, workers, on either infrastructure.

Pure: what they give is applied by ``ManagementCluster.apply``. A bootstrap template of any kind can be named, so that
the same cluster is made with kubeadm's provider and with ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tools.cluster.api_server import SERVICES
from tools.cluster.fake_infrastructure import definitions
from tools.cluster.programs import KUBERNETES
from tools.cluster.workload import POD_SUBNET

Object = dict[str, Any]

CORE = "cluster.x-k8s.io/v1beta2"
BOOTSTRAP = "bootstrap.cluster.x-k8s.io/v1beta2"
CONTROL_PLANE = "controlplane.cluster.x-k8s.io/v1beta2"
_CLUSTER_NAME = "cluster.x-k8s.io/cluster-name"
_SOCKET = {"nodeRegistration": {"criSocket": "unix:///run/containerd/containerd.sock"}}
_SHORT = {"provisioning": {"startupDuration": "1s"}}


@dataclass(frozen=True, slots=True)
class Infrastructure:
    """The kinds of an infrastructure provider: ``Dev`` is Cluster API's in-memory one, ``Fake`` is ours."""

    api_version: str
    prefix: str
    machine: Object
    cluster: Object

    def kind(self, suffix: str) -> str:
        """``Cluster``, ``Machine``, ``MachineTemplate`` ... with the provider's prefix."""
        return self.prefix + suffix


IN_MEMORY = Infrastructure(
    "infrastructure.cluster.x-k8s.io/v1beta2",
    "Dev",
    {"backend": {"inMemory": {"vm": _SHORT, "node": _SHORT, "apiServer": _SHORT, "etcd": _SHORT}}},
    {"backend": {"inMemory": {}}},
)
FAKE = Infrastructure(definitions.API_VERSION, "Fake", {}, {})


@dataclass(frozen=True, slots=True)
class Topology:
    """A cluster by name on an infrastructure, in a namespace."""

    name: str
    infrastructure: Infrastructure = FAKE
    namespace: str = "default"
    version: str = KUBERNETES

    def cluster(self, *, endpoint: tuple[str, int] | None = None, control_plane: bool = True) -> list[Object]:
        """Cluster, InfraCluster and the template of its machines.

        Args:
            endpoint: of an API server that is already there; the infrastructure gives one otherwise.
            control_plane: whether a KubeadmControlPlane of the same name belongs to it.
        """
        network = {
            "services": {"cidrBlocks": [SERVICES]},
            "pods": {"cidrBlocks": [POD_SUBNET]},
            "serviceDomain": "cluster.local",
        }
        spec: Object = {"clusterNetwork": network, "infrastructureRef": self._reference("Cluster")}
        if control_plane:
            spec["controlPlaneRef"] = _reference(CONTROL_PLANE, "KubeadmControlPlane", self.name)
        where = {} if endpoint is None else {"controlPlaneEndpoint": {"host": endpoint[0], "port": endpoint[1]}}
        infrastructure, machine = self.infrastructure, {"template": {"spec": self.infrastructure.machine}}
        return [
            self._object(CORE, "Cluster", spec),
            self._object(
                infrastructure.api_version, infrastructure.kind("Cluster"), {**infrastructure.cluster, **where}
            ),
            self._object(infrastructure.api_version, infrastructure.kind("MachineTemplate"), machine),
        ]

    def kubeadm_control_plane(self, *, replicas: int = 1, spec: Object | None = None) -> list[Object]:
        """A KubeadmControlPlane; ``spec`` goes over its kubeadmConfigSpec."""
        kubeadm = {"initConfiguration": _SOCKET, "joinConfiguration": _SOCKET, **(spec or {})}
        machine = {"spec": {"infrastructureRef": self._reference("MachineTemplate")}}
        return [
            self._object(
                CONTROL_PLANE,
                "KubeadmControlPlane",
                {
                    "replicas": replicas,
                    "version": self.version,
                    "machineTemplate": machine,
                    "kubeadmConfigSpec": kubeadm,
                },
            )
        ]

    def workers(self, bootstrap: Object | None = None, *, name: str = "", replicas: int = 1) -> list[Object]:
        """A MachineDeployment with its bootstrap template, one of kubeadm's without ``bootstrap``."""
        name = name or f"{self.name}-workers"
        template = bootstrap or self.kubeadm_template(name)
        spec = {
            "clusterName": self.name,
            "version": self.version,
            "bootstrap": {"configRef": _reference_to(template)},
            "infrastructureRef": self._reference("MachineTemplate"),
        }
        labels = {"pool": name}
        deployment = {
            "clusterName": self.name,
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        }
        return [template, self._object(CORE, "MachineDeployment", deployment, name=name)]

    def machine_pool(self, bootstrap: Object, *, name: str = "", replicas: int = 1) -> list[Object]:
        """A MachinePool with its bootstrap config, on the fake infrastructure only."""
        name = name or f"{self.name}-pool"
        spec = {
            "clusterName": self.name,
            "version": self.version,
            "bootstrap": {"configRef": _reference_to(bootstrap)},
            "infrastructureRef": _reference(definitions.API_VERSION, definitions.MACHINE_POOL, name),
        }
        pool = {"clusterName": self.name, "replicas": replicas, "template": {"spec": spec}}
        return [
            bootstrap,
            self._object(definitions.API_VERSION, definitions.MACHINE_POOL, {}, name=name),
            self._object(CORE, "MachinePool", pool, name=name),
        ]

    def kubeadm_template(self, name: str) -> Object:
        """A KubeadmConfigTemplate for workers."""
        return self._object(
            BOOTSTRAP, "KubeadmConfigTemplate", {"template": {"spec": {"joinConfiguration": _SOCKET}}}, name=name
        )

    def _reference(self, suffix: str) -> Object:
        return _reference(self.infrastructure.api_version, self.infrastructure.kind(suffix), self.name)

    def _object(self, api_version: str, kind: str, spec: Object, *, name: str = "") -> Object:
        metadata: Object = {"name": name or self.name, "namespace": self.namespace}
        if kind not in {"Cluster", "MachineDeployment", "MachinePool"}:
            metadata["labels"] = {_CLUSTER_NAME: self.name}
        if kind == "DevCluster":
            # The in-memory provider writes into this map without looking whether there is one.
            metadata["annotations"] = {"slipway.dev/made-by": "tools.cluster"}
        return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _reference_to(document: Object) -> Object:
    return _reference(document["apiVersion"], document["kind"], document["metadata"]["name"])


def _reference(api_version: str, kind: str, name: str) -> Object:
    return {"apiGroup": api_version.partition("/")[0], "kind": kind, "name": name}
