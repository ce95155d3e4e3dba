"""The machines of a Cluster with a topology: what its class says, without the class's patches."""

from collections.abc import Iterator

from slipway.bootstrapper.importers.cluster_api.cluster_kinds import (
    ClassMachines,
    ClusterClassSpec,
    Topology,
    TopologyMachines,
)
from slipway.bootstrapper.importers.cluster_api.clusters import CLUSTER_LABEL, KnownCluster
from slipway.bootstrapper.importers.cluster_api.kinds import ControlPlaneTemplateSpec
from slipway.bootstrapper.importers.cluster_api.machine_set import (
    FOREIGN_CONFIGS,
    NATIVE_CONFIGS,
    MachineSet,
    control_plane,
)
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.contract.source_position import FieldPath
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_UNPATCHED = "a ClusterClass names it: it is taken as it stands, without the patches of the class"
_OWNED = "topology.cluster.x-k8s.io/owned"
_NAMES = ("topology.cluster.x-k8s.io/deployment-name", "topology.cluster.x-k8s.io/pool-name")
_MADE = "what was made of its topology is among the documents, and is taken in its place"


class TopologyMachineSets:
    """The machine sets of one topology."""

    def __init__(
        self, objects: ManifestObjects, cluster: KnownCluster, each: ManifestObject, topology: Topology
    ) -> None:
        """Prepare; `each` is the Cluster's object."""
        self.objects = objects
        self.cluster = cluster
        self.each = each
        self.topology = topology
        self.found = objects.class_of(each, topology)

    def all(self) -> Iterator[MachineSet]:
        """Give those that no other document tells of; problems and notes go to the objects."""
        path: FieldPath = ("spec", "topology")
        workers = (*self.topology.workers.machine_deployments, *self.topology.workers.machine_pools)
        left = [one.name for one in workers if not self._made(one)]
        if self._has_plane() or len(left) < len(workers):
            self.objects.note(self.each, _MADE, path)
        if self.found is None and not self._has_plane():
            message = "the ClusterClass is not among the documents, so nobody knows the machines: add it"
            self.objects.problems.append(self.each.problem(path, message))
        elif self.found is None:
            for name in left:
                self.objects.note(self.each, f"{name} is left out: neither it nor the ClusterClass is there", path)
        else:
            yield from self._noted(self._of_class(self.found, self.found.read(ClusterClassSpec, "spec")))

    def _noted(self, items: Iterator[MachineSet]) -> Iterator[MachineSet]:
        seen: set[int] = set()
        for item in items:
            if id(item.config) not in seen:
                self.objects.note(item.config, _UNPATCHED)
            seen.add(id(item.config))
            yield item

    def _has_plane(self) -> bool:
        """Whether the control plane that was made of the topology is among the documents."""
        if self.objects.referred(self.cluster.spec.control_plane_ref, near=self.each) is not None:
            return True
        return any(_OWNED in one.header.metadata.labels for one in self._own("KubeadmControlPlane"))

    def _made(self, worker: TopologyMachines) -> bool:
        """Whether the deployment or pool that was made of workers is among the documents."""
        found = self._own("MachineDeployment", "MachinePool")
        return any(one.header.metadata.labels.get(label) == worker.name for one in found for label in _NAMES)

    def _own(self, *kinds: str) -> Iterator[ManifestObject]:
        """Give the objects of some kinds that bear the cluster's name."""
        for one in self.objects.of(*kinds):
            named = one.header.metadata.labels.get(CLUSTER_LABEL)
            if (named, one.namespace) == (self.each.name, self.each.namespace):
                yield one

    def templates(self) -> Iterator[ManifestObject]:
        """Give the configs that the class names: no machine is made of them but by a topology."""
        if self.found is None:
            return
        spec = self.found.read(ClusterClassSpec, "spec")
        workers = (*spec.workers.machine_deployments, *spec.workers.machine_pools)
        for reference in (spec.control_plane.to, *(one.templates.bootstrap.to for one in workers)):
            template = self.objects.referred(reference, near=self.found)
            if template is not None:
                yield template

    def _of_class(self, found: ManifestObject, spec: ClusterClassSpec) -> Iterator[MachineSet]:
        plane = self.objects.referred(spec.control_plane.to, near=found)
        if plane is not None and plane.kind == "KubeadmControlPlaneTemplate" and not self._has_plane():
            template = plane.read(ControlPlaneTemplateSpec, "spec").template.spec
            given = {"version": self.topology.version, "replicas": self.topology.control_plane.replicas}
            infrastructure = spec.control_plane.machine_infrastructure.to
            yield from control_plane(self.each, plane, template.model_copy(update=given), self.cluster, infrastructure)
        topology = self.topology.workers
        kinds = (
            (topology.machine_deployments, spec.workers.machine_deployments, "machineDeployments"),
            (topology.machine_pools, spec.workers.machine_pools, "machinePools"),
        )
        for workers, classes, field in kinds:
            for index, worker in enumerate(workers):
                if self._made(worker):
                    continue
                path = ("spec", "topology", "workers", field, index)
                yield from self._workers(found, worker, classes, path)

    def _workers(
        self, found: ManifestObject, worker: TopologyMachines, classes: list[ClassMachines], path: FieldPath
    ) -> Iterator[MachineSet]:
        templates = next((item.templates for item in classes if item.class_ == worker.class_), None)
        config = self.objects.referred(templates.bootstrap.to, near=found) if templates else None
        if templates is None or config is None or config.kind not in (*FOREIGN_CONFIGS, *NATIVE_CONFIGS):
            message = "its class, or the config template of it, is not among the documents"
            self.objects.problems.append(self.each.problem((*path, "class"), message))
            return
        name, version = f"{self.each.name}-{worker.name}", self.cluster.facts.kubernetes_version
        infrastructure = templates.infrastructure.to
        yield MachineSet(
            name, clusterpb.ROLE_WORKER, version, config, self.each, infrastructure, self.cluster, worker.replicas
        )
