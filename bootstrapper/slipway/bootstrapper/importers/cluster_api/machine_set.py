"""Machines of a manifest set that share a config and a role, and the kinds that hold a config."""

from collections.abc import Iterator
from dataclasses import dataclass

from slipway.bootstrapper.importers.cluster_api.clusters import KnownCluster
from slipway.bootstrapper.importers.cluster_api.kinds import ControlPlaneSpec, Reference
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject
from slipway.contract.source_position import FieldPath
from slipway.v1alpha1 import cluster_pb2 as clusterpb

CONFIG_PATHS: dict[str, FieldPath] = {
    "KubeadmControlPlane": ("spec", "kubeadmConfigSpec"),
    "KubeadmControlPlaneTemplate": ("spec", "template", "spec", "kubeadmConfigSpec"),
    "KubeadmConfig": ("spec",),
    "KubeadmConfigTemplate": ("spec", "template", "spec"),
}
"""Where the KubeadmConfigSpec stands in the kinds that have one."""

FOREIGN_CONFIGS = ("KubeadmConfig", "KubeadmConfigTemplate")
"""Kinds of the kubeadm provider that machines may name as their config."""

NATIVE_CONFIGS = ("SlipwayConfig", "SlipwayConfigTemplate")
"""Kinds of our own that machines may name as their config."""


@dataclass(frozen=True)
class MachineSet:
    """Machines that share a config and a role.

    Attributes:
        name: name of the machines.
        role: what they are to be.
        version: their Kubernetes version, or "".
        config: the object that holds their config.
        owner: the object that describes the machines.
        infrastructure: what the machines are made from, if known.
        cluster: their cluster.
        replicas: how many there are, if known.
        made_from: what `infrastructure` names, where it is not what the documents hold.
    """

    name: str
    role: clusterpb.Role.ValueType
    version: str
    config: ManifestObject
    owner: ManifestObject
    infrastructure: Reference | None
    cluster: KnownCluster
    replicas: int | None = None
    made_from: ManifestObject | None = None


def control_plane(
    owner: ManifestObject,
    config: ManifestObject,
    spec: ControlPlaneSpec,
    cluster: KnownCluster,
    infrastructure: Reference | None,
) -> Iterator[MachineSet]:
    """Give the first machine of a control plane, and those that join it."""
    version = spec.version or cluster.facts.kubernetes_version
    further = max(spec.replicas - 1, 0) if spec.replicas is not None else None
    for role, suffix, replicas in ((clusterpb.ROLE_INIT, "init", 1), (clusterpb.ROLE_CONTROL_PLANE, "join", further)):
        name = f"{owner.name}-{suffix}"
        yield MachineSet(name, role, version, config, owner, infrastructure, cluster, replicas)
