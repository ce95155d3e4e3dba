"""Where the facts of a machine stand in Cluster API's own objects, by the names that errors have for them."""

from collections.abc import Iterator

from slipway.bootstrapper.importers.cluster_api.machine_set import MachineSet

_CLUSTER = {
    "cluster": "spec",
    "cluster.name": "metadata.name",
    "cluster.endpoint": "spec.controlPlaneEndpoint",
    "cluster.podCidrs": "spec.clusterNetwork.pods.cidrBlocks",
    "cluster.serviceCidrs": "spec.clusterNetwork.services.cidrBlocks",
    "cluster.serviceDomain": "spec.clusterNetwork.serviceDomain",
    "cluster.controlPlane": "spec.controlPlaneRef",
}
_VERSIONS = {
    "Cluster": "spec.topology.version",
    "KubeadmControlPlane": "spec.version",
    "Machine": "spec.version",
    "MachineDeployment": "spec.template.spec.version",
    "MachinePool": "spec.template.spec.version",
    "MachineSet": "spec.template.spec.version",
}


def facts_written(each: MachineSet) -> dict[str, str]:
    """Give the places of a machine's facts, as far as there are objects that say them: "Kind/name: path" by name."""
    return dict(_facts(each))


def _facts(each: MachineSet) -> Iterator[tuple[str, str]]:
    cluster = each.cluster.object
    if cluster is not None:
        topology, plane = each.cluster.spec.topology is not None, each.cluster.spec.control_plane_ref
        for name, path in _CLUSTER.items():
            yield name, f"{cluster.document}: {path}"
        if topology:
            yield "cluster.controlPlane", f"{cluster.document}: spec.topology"
            yield "cluster.kubernetesVersion", f"{cluster.document}: {_VERSIONS['Cluster']}"
        elif plane is not None and plane.kind in _VERSIONS:
            yield "cluster.kubernetesVersion", f"{plane.kind}/{plane.name}: {_VERSIONS[plane.kind]}"
    yield "machine.role", f"{each.owner.document}: kind"
    if each.owner.kind in _VERSIONS:
        version = f"{each.owner.document}: {_VERSIONS[each.owner.kind]}"
        yield "machine.kubernetesVersion", version
        if each.owner.kind == "KubeadmControlPlane":
            yield "cluster.kubernetesVersion", version
