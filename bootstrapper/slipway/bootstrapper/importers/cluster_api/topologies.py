"""The machines of a Cluster with a topology: the templates of its class, with the patches of the class."""

from collections.abc import Iterator
from dataclasses import replace

from slipway.bootstrapper.importers.cluster_api.class_kinds import PatchesSpec
from slipway.bootstrapper.importers.cluster_api.class_patches import ClassPatches, Holder, unmatched
from slipway.bootstrapper.importers.cluster_api.class_variables import of_control_plane, of_workers
from slipway.bootstrapper.importers.cluster_api.cluster_kinds import (
    ClassMachines,
    ClusterClassSpec,
    Topology,
    TopologyMachines,
)
from slipway.bootstrapper.importers.cluster_api.clusters import CLUSTER_LABEL, KnownCluster
from slipway.bootstrapper.importers.cluster_api.kinds import ControlPlaneTemplateSpec, Reference
from slipway.bootstrapper.importers.cluster_api.machine_set import (
    FOREIGN_CONFIGS,
    NATIVE_CONFIGS,
    MachineSet,
    control_plane,
)
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.contract.source_position import FieldPath, SourceError, SourceProblem
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_UNREAD = "what it says about machines is not taken, since a patch of the ClusterClass cannot be applied to it: "
_OWNED = "topology.cluster.x-k8s.io/owned"
_NAMES = ("topology.cluster.x-k8s.io/deployment-name", "topology.cluster.x-k8s.io/pool-name")
_MADE = "what was made of its topology is among the documents, and is taken in its place"


class TopologyMachineSets:
    """The machine sets of one topology."""

    def __init__(
        self,
        objects: ManifestObjects,
        cluster: KnownCluster,
        each: ManifestObject,
        topology: Topology,
        *,
        set_missing: bool,
    ) -> None:
        """Prepare.

        Args:
            objects: the set.
            cluster: the cluster.
            each: its object.
            topology: its topology.
            set_missing: use placeholders for what only a management cluster knows.
        """
        self.objects = objects
        self.cluster = cluster
        self.each = each
        self.topology = topology
        self.found = objects.class_of(each, topology)
        self.set_missing = set_missing
        self.used: set[int] = set()

    def all(self) -> Iterator[MachineSet]:
        """Give those that no other document tells of; problems and notes go to the objects."""
        path: FieldPath = ("spec", "topology")
        workers = (*self.topology.workers.machine_deployments, *self.topology.workers.machine_pools)
        left = [one.name for one in workers if not self._made(one)]
        if self._has_plane() or len(left) < len(workers):
            self.objects.note(self.each, _MADE, path)
        if self.found is None and not self._has_plane():
            message = "the ClusterClass is not among the documents, so its machines are unknown: add it"
            self.objects.problems.append(self.each.problem(path, message))
        elif self.found is None:
            for name in left:
                self.objects.note(self.each, f"{name} is left out: neither it nor the ClusterClass is there", path)
        else:
            yield from self._of_class(self.found, self.found.read(ClusterClassSpec, "spec"))

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
        self.objects.problems.extend(self._unmatched(found, spec))
        patches = ClassPatches(found, self.each, self.cluster.spec, set_missing=self.set_missing)
        plane = self.objects.referred(spec.control_plane.to, near=found)
        if plane is not None and plane.kind == "KubeadmControlPlaneTemplate" and not self._has_plane():
            yield from self._control_plane(patches, spec, plane)
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
                yield from self._workers(patches, worker, classes, path)

    def _unmatched(self, found: ManifestObject, spec: ClusterClassSpec) -> Iterator[SourceProblem]:
        workers = [one.templates for one in (*spec.workers.machine_deployments, *spec.workers.machine_pools)]
        named = [spec.infrastructure.to, spec.control_plane.to, spec.control_plane.machine_infrastructure.to]
        named += [reference.to for one in workers for reference in (one.bootstrap, one.infrastructure)]
        kinds: set[tuple[str, str]] = set()
        for reference in named:
            template = self.objects.referred(reference, near=found)
            version = reference.api_version if reference else ""
            version = version or (template.header.api_version if template else "")
            if reference is not None and not version:
                return
            if reference is not None:
                kinds.add((version, reference.kind))
        yield from unmatched(found.read(PatchesSpec, "spec"), found, kinds)

    def _control_plane(
        self, patches: ClassPatches, spec: ClusterClassSpec, plane: ManifestObject
    ) -> Iterator[MachineSet]:
        given = self.topology.control_plane
        path: FieldPath = ("spec", "topology", "controlPlane")
        overrides = given.variables.overrides
        holder = Holder("controlPlane", "", of_control_plane(self.topology), overrides, path)
        names = [f"{self.each.name}-{suffix}" for suffix in ("init", "join")]
        config = self._patched(patches, plane, spec.control_plane.to, holder, *names)
        if config is None:
            return
        template = config.read(ControlPlaneTemplateSpec, "spec").template.spec
        template = template.model_copy(update={"version": self.topology.version, "replicas": given.replicas})
        infrastructure = spec.control_plane.machine_infrastructure.to
        made_from = self._infrastructure(patches, infrastructure, holder)
        for one in control_plane(self.each, config, template, self.cluster, infrastructure):
            yield replace(one, made_from=made_from)

    def _workers(
        self, patches: ClassPatches, worker: TopologyMachines, classes: list[ClassMachines], path: FieldPath
    ) -> Iterator[MachineSet]:
        found, name = patches.class_, f"{self.each.name}-{worker.name}"
        templates = next((item.templates for item in classes if item.class_ == worker.class_), None)
        config = self.objects.referred(templates.bootstrap.to, near=found) if templates else None
        if templates is None or config is None or config.kind not in (*FOREIGN_CONFIGS, *NATIVE_CONFIGS):
            message = "its class, or the config template of it, is not among the documents"
            self.objects.blame(self.each, [self.each.problem((*path, "class"), message)], name)
            return
        version = self.cluster.facts.kubernetes_version
        infrastructure = templates.infrastructure.to
        kind = str(path[-2]).removesuffix("s")
        builtin = of_workers(kind, self.topology.version, worker.class_, worker.name, worker.replicas)
        holder = Holder(f"{kind}Class", worker.class_, builtin, worker.variables.overrides, path)
        patched = self._patched(patches, config, templates.bootstrap.to, holder, name)
        if patched is None:
            return
        made_from, role = self._infrastructure(patches, infrastructure, holder), clusterpb.ROLE_WORKER
        yield MachineSet(
            name, role, version, patched, self.each, infrastructure, self.cluster, worker.replicas, made_from
        )

    def _patched(
        self, patches: ClassPatches, config: ManifestObject, reference: Reference | None, holder: Holder, *machines: str
    ) -> ManifestObject | None:
        """Give a config as the patches leave it; None, and problems, if they cannot be applied."""
        self.used.add(id(config))
        if config.kind in NATIVE_CONFIGS:
            return config
        try:
            return patches.apply(config, reference, holder)
        except SourceError as error:
            self.objects.blame(config, error.problems, *machines)
            return None

    def _infrastructure(
        self, patches: ClassPatches, reference: Reference | None, holder: Holder
    ) -> ManifestObject | None:
        """Give what machines are made from, as the patches leave it.

        Of it only a field or two matter here; so a patch that is not understood costs these, and a note tells.
        """
        template = self.objects.referred(reference, near=patches.class_)
        if template is None:
            return None
        try:
            return patches.apply(template, reference, holder)
        except SourceError as error:
            self.objects.note(template, _UNREAD + str(error.problems[0]))
            return replace(template, tree={})
