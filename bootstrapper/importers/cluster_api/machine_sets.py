"""Which machines a manifest set describes, and where the config of each stands.

A KubeadmControlPlane means a first machine and machines that join it; every deployment, set or pool means workers;
a template that nobody owns means one machine; a topology means what its class says, without the class's patches.
Machines may just as well name a config of our own: which it is, is told here; it is read elsewhere.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from bootstrapper.importers.cluster_api.cluster_kinds import ClassMachines, ClusterClassSpec, Topology, TopologyMachines
from bootstrapper.importers.cluster_api.clusters import Clusters, KnownCluster
from bootstrapper.importers.cluster_api.kinds import (
    ConfigTemplateSpec,
    ControlPlaneSpec,
    ControlPlaneTemplateSpec,
    MachineSpec,
    MachinesSpec,
    Reference,
)
from bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from services.contract.source_position import FieldPath, SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb

CONFIG_PATHS: dict[str, FieldPath] = {
    "KubeadmControlPlane": ("spec", "kubeadmConfigSpec"),
    "KubeadmControlPlaneTemplate": ("spec", "template", "spec", "kubeadmConfigSpec"),
    "KubeadmConfig": ("spec",),
    "KubeadmConfigTemplate": ("spec", "template", "spec"),
}
"""Where the KubeadmConfigSpec stands in the kinds that have one."""

NATIVE_CONFIGS = ("SlipwayConfig", "SlipwayConfigTemplate")
"""Kinds of our own that machines may name as their config."""

_CONTROL_PLANE_LABEL = "cluster.x-k8s.io/control-plane"
_POOLS = ("MachineDeployment", "MachineSet", "MachinePool")
_CONFIGS = ("KubeadmConfig", "KubeadmConfigTemplate")
_INIT, _JOIN, _WORKER = clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER
_UNPATCHED = "a ClusterClass names it: it is taken as it stands, without the patches of the class"


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
    """

    name: str
    role: clusterpb.Role.ValueType
    version: str
    config: ManifestObject
    owner: ManifestObject
    infrastructure: Reference | None
    cluster: KnownCluster
    replicas: int | None = None


class MachineSets:
    """Finds the machine sets of a manifest set."""

    def __init__(self, objects: ManifestObjects, clusters: Clusters) -> None:
        """Prepare."""
        self.objects = objects
        self.clusters = clusters
        self.taken: set[int] = set()
        self.begun: set[int] = set()

    def all(self) -> list[MachineSet]:
        """Give all of them; problems and notes go to the objects."""
        found: list[MachineSet] = []
        for each in self.objects.all:
            try:
                found.extend(self._of(each))
            except SourceError as error:
                self.objects.problems.extend(error.problems)
        for each in self.objects.all:
            try:
                found.extend(self._unowned(each))
            except SourceError as error:
                self.objects.problems.extend(error.problems)
        return found

    def _of(self, each: ManifestObject) -> Iterator[MachineSet]:
        if each.kind == "KubeadmControlPlane":
            spec = each.read(ControlPlaneSpec, "spec")
            cluster = self.clusters.of(each)
            yield from self._control_plane(each, each, spec, spec.version, cluster)
        elif each.kind in _POOLS:
            yield from self._pool(each)
        elif each.kind == "Machine":
            yield from self._machine(each)
        elif each.kind == "Cluster":
            topology = self.clusters.of(each, each.name).spec.topology
            if topology is not None:
                yield from self._topology(each, topology)

    def _control_plane(
        self, owner: ManifestObject, config: ManifestObject, spec: ControlPlaneSpec, version: str, cluster: KnownCluster
    ) -> Iterator[MachineSet]:
        self.taken.add(id(config))
        self.begun.add(id(cluster))
        version = version or cluster.facts.kubernetes_version
        infrastructure = spec.machine_template.infrastructure
        further = max(spec.replicas - 1, 0) if spec.replicas is not None else None
        for role, suffix, replicas in ((_INIT, "init", 1), (_JOIN, "join", further)):
            name = f"{owner.name}-{suffix}"
            yield MachineSet(name, role, version, config, owner, infrastructure, cluster, replicas)

    def _pool(self, each: ManifestObject) -> Iterator[MachineSet]:
        spec = each.read(MachinesSpec, "spec")
        machine = spec.template.spec
        config = self._config(each, machine, ("spec", "template", "spec"))
        if config is not None:
            cluster = self.clusters.of(each, spec.cluster_name or machine.cluster_name, version=machine.version)
            version = machine.version or cluster.facts.kubernetes_version
            yield MachineSet(
                each.name, _WORKER, version, config, each, machine.infrastructure_ref, cluster, spec.replicas
            )

    def _machine(self, each: ManifestObject) -> Iterator[MachineSet]:
        spec = each.read(MachineSpec, "spec")
        config = self._config(each, spec, ("spec",))
        if config is None:
            return
        cluster = self.clusters.of(each, spec.cluster_name, version=spec.version)
        version = spec.version or cluster.facts.kubernetes_version
        role = _WORKER
        if _CONTROL_PLANE_LABEL in each.header.metadata.labels:
            role = self._native_role(cluster) if config.kind in NATIVE_CONFIGS else _role_of(config)
        yield MachineSet(each.name, role, version, config, each, spec.infrastructure_ref, cluster, 1)

    def _native_role(self, cluster: KnownCluster) -> clusterpb.Role.ValueType:
        """Give the role of a control-plane machine whose config does not tell it: the first one begins the cluster."""
        if id(cluster) in self.begun:
            return _JOIN
        self.begun.add(id(cluster))
        return _INIT

    def _config(self, each: ManifestObject, machine: MachineSpec, path: FieldPath) -> ManifestObject | None:
        reference = machine.bootstrap.config_ref
        here = (*path, "bootstrap", "configRef")
        if reference is None:
            self.objects.note(each, "it has no config of its own, and is left alone", (*path, "bootstrap"))
            return None
        if reference.kind not in (*_CONFIGS, *NATIVE_CONFIGS):
            self.objects.note(each, "its config is of a kind that is not read here, and is left alone", here)
            return None
        config = self.objects.referred(reference, near=each)
        if config is None:
            self.objects.problems.append(each.problem(here, "the config is not among the documents"))
            return None
        self.taken.add(id(config))
        return config

    def _unowned(self, each: ManifestObject) -> Iterator[MachineSet]:
        if id(each) in self.taken:
            return
        if each.kind == "KubeadmControlPlaneTemplate":
            spec = each.read(ControlPlaneTemplateSpec, "spec").template.spec
            yield from self._control_plane(each, each, spec, spec.version, self.clusters.of(each))
        elif each.kind in _CONFIGS:
            if each.kind == "KubeadmConfigTemplate":
                each.read(ConfigTemplateSpec, "spec")
            self.objects.note(each, "no machines of the set name it: it is taken for a machine of its own")
            cluster = self.clusters.of(each)
            role = _role_of(each)
            yield MachineSet(each.name, role, cluster.facts.kubernetes_version, each, each, None, cluster)

    def _topology(self, each: ManifestObject, topology: Topology) -> Iterator[MachineSet]:
        name = topology.class_ref.name or topology.class_
        found = self.objects.find("ClusterClass", name, near=each)
        if found is None:
            message = "the ClusterClass is not among the documents, so nobody knows the machines: add it"
            self.objects.problems.append(each.problem(("spec", "topology"), message))
            return
        spec = found.read(ClusterClassSpec, "spec")
        cluster = self.clusters.of(each, each.name)
        plane = self.objects.referred(spec.control_plane.to, near=found)
        if plane is not None and plane.kind == "KubeadmControlPlaneTemplate":
            self.objects.note(plane, _UNPATCHED)
            template = plane.read(ControlPlaneTemplateSpec, "spec").template.spec
            infrastructure = spec.control_plane.machine_infrastructure.to
            for item in self._control_plane(each, plane, template, topology.version, cluster):
                yield MachineSet(item.name, item.role, item.version, plane, each, infrastructure, cluster)
        kinds = (
            (topology.workers.machine_deployments, spec.workers.machine_deployments, "machineDeployments"),
            (topology.workers.machine_pools, spec.workers.machine_pools, "machinePools"),
        )
        for workers, classes, field in kinds:
            for index, worker in enumerate(workers):
                path = ("spec", "topology", "workers", field, index)
                yield from self._topology_workers(each, worker, classes, cluster, path)

    def _topology_workers(
        self,
        each: ManifestObject,
        worker: TopologyMachines,
        classes: list[ClassMachines],
        cluster: KnownCluster,
        path: FieldPath,
    ) -> Iterator[MachineSet]:
        templates = next((item.templates for item in classes if item.class_ == worker.class_), None)
        config = self.objects.referred(templates.bootstrap.to, near=each) if templates else None
        if templates is None or config is None or config.kind not in (*_CONFIGS, *NATIVE_CONFIGS):
            message = "its class, or the config template of it, is not among the documents"
            self.objects.problems.append(each.problem((*path, "class"), message))
            return
        if id(config) not in self.taken:
            self.objects.note(config, _UNPATCHED)
        self.taken.add(id(config))
        name, version = f"{each.name}-{worker.name}", cluster.facts.kubernetes_version
        infrastructure = templates.infrastructure.to
        yield MachineSet(name, _WORKER, version, config, each, infrastructure, cluster, worker.replicas)


def _role_of(config: ManifestObject) -> clusterpb.Role.ValueType:
    """Give what a config alone says about the role of its machine."""
    path = CONFIG_PATHS[config.kind]
    join = config.part(*map(str, path), "joinConfiguration")
    if isinstance(join, dict) and "controlPlane" in join:
        return _JOIN
    first = any(config.part(*map(str, path), name) for name in ("clusterConfiguration", "initConfiguration"))
    return _INIT if first else _WORKER
