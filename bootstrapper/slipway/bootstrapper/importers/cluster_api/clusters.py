"""What the machines of a cluster have in common, collected from Cluster, infrastructure cluster and control plane."""

from dataclasses import dataclass, replace

from slipway.bootstrapper.engines.endpoint import DEFAULT_PORT
from slipway.bootstrapper.importers.cluster_api.class_patches import ClassPatches, Holder
from slipway.bootstrapper.importers.cluster_api.cluster_kinds import ClusterClassSpec, ClusterSpec
from slipway.bootstrapper.importers.cluster_api.families import family_of_control_plane
from slipway.bootstrapper.importers.cluster_api.infrastructure import endpoint_of, infrastructure_of
from slipway.bootstrapper.importers.cluster_api.kinds import ControlPlaneSpec, Reference
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, ManifestObjects
from slipway.bootstrapper.importers.placeholders import ADDRESS, KUBERNETES_VERSION
from slipway.contract.source_position import SourceError
from slipway.v1alpha1 import cluster_pb2 as clusterpb

CLUSTER_LABEL = "cluster.x-k8s.io/cluster-name"


@dataclass(frozen=True)
class KnownCluster:
    """A cluster of the set.

    Attributes:
        facts: the cluster's facts.
        infrastructure: where it runs, or "".
        object: its Cluster, if the set has it.
        spec: the spec of the Cluster.
    """

    facts: clusterpb.Cluster
    infrastructure: str
    object: ManifestObject | None
    spec: ClusterSpec


class Clusters:
    """The clusters of a set, by the objects that belong to them."""

    def __init__(self, objects: ManifestObjects, *, set_missing: bool) -> None:
        """Collect them.

        Raises:
            SourceError: a Cluster does not fit its schema.
        """
        self.objects = objects
        self.set_missing = set_missing
        self._known = {(each.namespace, each.name): self._read(each) for each in objects.of("Cluster")}
        self._guessed: dict[tuple[str, str], KnownCluster] = {}

    def all(self) -> list[KnownCluster]:
        """Give all clusters, also those of which only the name is known."""
        return [*self._known.values(), *self._guessed.values()]

    def of(self, each: ManifestObject, name: str = "", *, version: str = "") -> KnownCluster:
        """Give the cluster that an object belongs to, by name, label, reference, or since its namespace has but one.

        Args:
            each: the object.
            name: the cluster's name, where the object says it.
            version: Kubernetes version of the object's machines, for want of one of the control plane.
        """
        name = name or each.header.metadata.labels.get(CLUSTER_LABEL) or ""
        near = [cluster for (namespace, _), cluster in self._known.items() if namespace == each.namespace]
        for cluster in near:
            reference = cluster.spec.control_plane_ref
            if not name and reference and (reference.kind, reference.name) == (each.kind, each.name):
                return cluster
        if not name and len(near) == 1:
            return near[0]
        if (each.namespace, name) in self._known:
            return self._known[each.namespace, name]
        return self._guess(each, name, version)

    def _guess(self, each: ManifestObject, name: str, version: str) -> KnownCluster:
        key = (each.namespace, name or f"{each.kind}/{each.name}")
        if key not in self._guessed:
            if not name:
                self.objects.note(each, "no Cluster belongs to it: its own name is taken for the cluster's")
            facts = clusterpb.Cluster(name=name or each.name)
            if each.namespace:
                facts.namespace = each.namespace
            version = self._version_of_control_plane(each, name) or version
            if version:
                facts.kubernetes_version = version
            self._complete(each, facts)
            self._guessed[key] = KnownCluster(facts, "", None, ClusterSpec())
        return self._guessed[key]

    def _version_of_control_plane(self, each: ManifestObject, name: str) -> str:
        """Give the version of the only control plane that carries the cluster's name, or is the object itself."""
        planes = [
            plane
            for plane in self.objects.of("KubeadmControlPlane")
            if plane.namespace == each.namespace
            and (plane is each or (plane.header.metadata.labels.get(CLUSTER_LABEL) or "") == name)
        ]
        return planes[0].read(ControlPlaneSpec, "spec").version if len(planes) == 1 else ""

    def _read(self, each: ManifestObject) -> KnownCluster:
        spec = each.read(ClusterSpec, "spec")
        network = spec.cluster_network
        facts = clusterpb.Cluster(
            name=each.name, pod_cidrs=network.pods.cidr_blocks, service_cidrs=network.services.cidr_blocks
        )
        if each.namespace:
            facts.namespace = each.namespace
        if network.service_domain:
            facts.service_domain = network.service_domain
        self._set_endpoint(each, spec, facts)
        self._set_control_plane(each, spec, facts)
        self._complete(each, facts)
        kind = spec.infrastructure_ref.kind if spec.infrastructure_ref else ""
        return KnownCluster(facts, infrastructure_of(kind), each, spec)

    def _set_endpoint(self, each: ManifestObject, spec: ClusterSpec, facts: clusterpb.Cluster) -> None:
        if spec.control_plane_endpoint.host:
            given = spec.control_plane_endpoint
            facts.endpoint.CopyFrom(clusterpb.Endpoint(host=given.host, port=given.port or None))
            return
        infrastructure = self.objects.referred(spec.infrastructure_ref, near=each) or self._made(each, spec)
        endpoint = endpoint_of(infrastructure) if infrastructure else None
        if endpoint is not None:
            facts.endpoint.CopyFrom(endpoint)

    def _made(self, each: ManifestObject, spec: ClusterSpec) -> ManifestObject | None:
        """Give what a topology makes the infrastructure's cluster of, if its class and patches tell."""
        class_ = self.objects.class_of(each, spec.topology) if spec.topology else None
        if spec.topology is None or class_ is None:
            return None
        reference = class_.read(ClusterClassSpec, "spec").infrastructure.to
        template = self.objects.referred(reference, near=class_)
        if template is None:
            return None
        patches = ClassPatches(class_, each, spec, set_missing=self.set_missing)
        try:
            made = patches.apply(template, reference, Holder("infrastructureCluster"))
        except SourceError as error:
            self.objects.note(template, f"no endpoint is taken from it: {error.problems[0]}")
            return None
        return replace(made, tree=made.part("spec", "template"))

    def _set_control_plane(self, each: ManifestObject, spec: ClusterSpec, facts: clusterpb.Cluster) -> None:
        reference = spec.control_plane_ref or self._of_class(each, spec) or Reference()
        family = family_of_control_plane(reference.kind)
        if family:
            facts.control_plane = family
        plane = self.objects.referred(reference, near=each)
        version = ""
        if spec.topology is not None:
            version = spec.topology.version
        elif plane is not None and plane.kind == "KubeadmControlPlane":
            version = plane.read(ControlPlaneSpec, "spec").version
        if version:
            facts.kubernetes_version = version

    def _of_class(self, each: ManifestObject, spec: ClusterSpec) -> Reference | None:
        """Give what stands for the control plane of a topology: its template, by the kind that is made from it."""
        if spec.topology is None:
            return None
        class_ = self.objects.class_of(each, spec.topology)
        template = class_.read(ClusterClassSpec, "spec").control_plane.to if class_ else None
        return Reference(kind=template.kind.removesuffix("Template"), name="") if template else None

    def _complete(self, each: ManifestObject, facts: clusterpb.Cluster) -> None:
        """Fill in what a first look can do with a placeholder for."""
        if not self.set_missing:
            return
        if not facts.endpoint.host:
            self.objects.note(each, "the endpoint of the cluster is not known: a placeholder is used")
            facts.endpoint.CopyFrom(clusterpb.Endpoint(host=ADDRESS, port=DEFAULT_PORT))
        if not facts.kubernetes_version:
            self.objects.note(each, "the Kubernetes version of the cluster is not known: a placeholder is used")
            facts.kubernetes_version = KUBERNETES_VERSION
