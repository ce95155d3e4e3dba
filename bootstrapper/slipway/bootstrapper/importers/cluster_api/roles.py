"""What a machine is to be: its label tells a control plane, its config whether it begins the cluster or joins it."""

from slipway.bootstrapper.importers.cluster_api.clusters import KnownCluster
from slipway.bootstrapper.importers.cluster_api.machine_set import CONFIG_PATHS
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"


class Roles:
    """The roles of the machines of a set, where nothing but themselves tells them."""

    def __init__(self) -> None:
        """Begin with clusters that nobody has begun."""
        self._begun: set[int] = set()

    def begin(self, cluster: KnownCluster) -> None:
        """Remember that a machine begins a cluster."""
        self._begun.add(id(cluster))

    def of_machine(
        self, each: ManifestObject, config: ManifestObject, cluster: KnownCluster
    ) -> clusterpb.Role.ValueType:
        """Give the role of a Machine: without the label it is a worker, whatever its config says.

        Of machines with the label whose configs do not tell, the first begins the cluster, as the one does that gets
        the lock of the kubeadm provider; the others join.
        """
        if _CONTROL_PLANE_LABEL not in each.header.metadata.labels:
            return clusterpb.ROLE_WORKER
        if _joins(config) or id(cluster) in self._begun:
            return clusterpb.ROLE_CONTROL_PLANE
        self.begin(cluster)
        return clusterpb.ROLE_INIT

    def of_config(self, config: ManifestObject, cluster: KnownCluster) -> clusterpb.Role.ValueType:
        """Give what a config alone says about the role of its machine."""
        if _CONTROL_PLANE_LABEL in config.header.metadata.labels:
            return self.of_machine(config, config, cluster)
        join = _part(config, "joinConfiguration")
        if isinstance(join, dict) and "controlPlane" in join:
            return clusterpb.ROLE_CONTROL_PLANE
        return clusterpb.ROLE_INIT if _begins(config) else clusterpb.ROLE_WORKER


def _joins(config: ManifestObject) -> bool:
    """Return whether the config of a control-plane machine is one for joining."""
    join = _part(config, "joinConfiguration")
    return isinstance(join, dict) and ("controlPlane" in join or not _begins(config))


def _begins(config: ManifestObject) -> bool:
    return any(_part(config, name) for name in ("clusterConfiguration", "initConfiguration"))


def _part(config: ManifestObject, name: str) -> object:
    path = CONFIG_PATHS.get(config.kind)
    return config.part(*map(str, path), name) if path else None
