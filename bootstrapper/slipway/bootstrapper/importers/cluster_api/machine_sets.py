"""Which machines a manifest set describes, and where the config of each stands.

A KubeadmControlPlane means a first machine and machines that join it; every deployment, set or pool means workers;
a template that nobody owns means one machine. What another object of the set has made is told by that one.
Machines may just as well name a config of our own: which it is, is told here; it is read elsewhere.
"""

from collections.abc import Iterator

from slipway.bootstrapper.importers.cluster_api.clusters import Clusters
from slipway.bootstrapper.importers.cluster_api.kinds import (
    ConfigTemplateSpec,
    ControlPlaneSpec,
    ControlPlaneTemplateSpec,
    MachineSpec,
    MachinesSpec,
)
from slipway.bootstrapper.importers.cluster_api.machine_set import (
    FOREIGN_CONFIGS,
    NATIVE_CONFIGS,
    MachineSet,
    control_plane,
)
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.bootstrapper.importers.cluster_api.roles import Roles
from slipway.bootstrapper.importers.cluster_api.topologies import TopologyMachineSets
from slipway.contract.source_position import FieldPath, SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_POOLS = ("MachineDeployment", "MachineSet", "MachinePool")
_MADE = (*_POOLS, "Machine", *FOREIGN_CONFIGS)
_UNUSED = "a ClusterClass names it, and no machines of the documents are made of it: it is left alone"
_MAKERS = ("KubeadmControlPlane", *_POOLS)


class MachineSets:
    """Finds the machine sets of a manifest set."""

    def __init__(self, objects: ManifestObjects, clusters: Clusters) -> None:
        """Prepare."""
        self.objects = objects
        self.clusters = clusters
        self.taken: set[int] = set()
        self.of_classes: list[ManifestObject] = []
        self.roles = Roles()

    def all(self) -> list[MachineSet]:
        """Give all of them; problems and notes go to the objects."""
        machine_sets: list[MachineSet] = []
        for each in self.objects.all:
            try:
                machine_sets.extend(self._of(each))
            except SourceError as error:
                self.objects.problems.extend(error.problems)
        for template in self.of_classes:
            if id(template) not in self.taken:
                self.objects.note(template, _UNUSED)
            self.taken.add(id(template))
        for each in self.objects.all:
            try:
                machine_sets.extend(self._unowned(each))
            except SourceError as error:
                self.objects.problems.extend(error.problems)
        return machine_sets

    def _of(self, each: ManifestObject) -> Iterator[MachineSet]:
        maker = self._maker(each) if each.kind in _MADE else None
        if maker is not None:
            self._leave(each, maker)
        elif each.kind == "KubeadmControlPlane":
            yield from self._control_plane(each, each.read(ControlPlaneSpec, "spec"))
        elif each.kind in _POOLS:
            yield from self._pool(each)
        elif each.kind == "Machine":
            yield from self._machine(each)
        elif each.kind == "Cluster":
            yield from self._topology(each)

    def _maker(self, each: ManifestObject) -> ManifestObject | None:
        """Give the object of the set that has made this one, as a management cluster's objects say."""
        owners = (
            owner_reference
            for owner_reference in each.header.metadata.owner_references
            if owner_reference.kind in _MAKERS
        )
        makers = (self.objects.referred(owner, near=each) for owner in owners)
        return next((machine_set for machine_set in makers if machine_set is not None), None)

    def _leave(self, each: ManifestObject, maker: ManifestObject) -> None:
        """Leave alone what another object has made, and its config."""
        self.taken.add(id(each))
        if each.kind == "Machine":
            config = self.objects.referred(each.read(MachineSpec, "spec").bootstrap.config_ref, near=each)
            if config is not None:
                self.taken.add(id(config))
        self.objects.note(each, f"{maker.document} has made it and defines it: it is left alone")

    def _control_plane(self, each: ManifestObject, spec: ControlPlaneSpec) -> Iterator[MachineSet]:
        self.taken.add(id(each))
        cluster = self.clusters.of(each)
        self.roles.begin(cluster)
        yield from control_plane(each, each, spec, cluster, spec.machine_template.infrastructure)

    def _topology(self, each: ManifestObject) -> Iterator[MachineSet]:
        cluster = self.clusters.of(each, each.name)
        topology = cluster.spec.topology
        if topology is None:
            return
        sets = TopologyMachineSets(self.objects, cluster, each, topology, set_missing=self.clusters.set_missing)
        for machine_set in sets.all():
            if machine_set.role == clusterpb.ROLE_INIT:
                self.roles.begin(cluster)
            yield machine_set
        self.taken |= sets.used
        self.of_classes += sets.templates()

    def _pool(self, each: ManifestObject) -> Iterator[MachineSet]:
        spec = each.read(MachinesSpec, "spec")
        machine = spec.template.spec
        config = self._config(each, machine, ("spec", "template", "spec"))
        if config is not None:
            cluster = self.clusters.of(each, spec.cluster_name or machine.cluster_name, version=machine.version)
            version = machine.version or cluster.facts.kubernetes_version
            made_from, role = machine.infrastructure_ref, clusterpb.ROLE_WORKER
            yield MachineSet(each.name, role, version, config, each, made_from, cluster, spec.replicas)

    def _machine(self, each: ManifestObject) -> Iterator[MachineSet]:
        spec = each.read(MachineSpec, "spec")
        config = self._config(each, spec, ("spec",))
        if config is None:
            return
        cluster = self.clusters.of(each, spec.cluster_name, version=spec.version)
        version = spec.version or cluster.facts.kubernetes_version
        role = self.roles.of_machine(each, config, cluster)
        yield MachineSet(each.name, role, version, config, each, spec.infrastructure_ref, cluster, 1)

    def _config(self, each: ManifestObject, machine: MachineSpec, path: FieldPath) -> ManifestObject | None:
        reference = machine.bootstrap.config_ref
        here = (*path, "bootstrap", "configRef")
        if reference is None:
            self.objects.note(each, "it has no config of its own, and is left alone", (*path, "bootstrap"))
            return None
        if reference.kind not in (*FOREIGN_CONFIGS, *NATIVE_CONFIGS):
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
            yield from self._control_plane(each, each.read(ControlPlaneTemplateSpec, "spec").template.spec)
        elif each.kind in FOREIGN_CONFIGS:
            if each.kind == "KubeadmConfigTemplate":
                each.read(ConfigTemplateSpec, "spec")
            self.objects.note(each, "no machines of the set name it: it is taken for a machine of its own")
            cluster = self.clusters.of(each)
            role = self.roles.of_config(each, cluster)
            yield MachineSet(each.name, role, cluster.facts.kubernetes_version, each, each, None, cluster)
