"""Cluster, with a topology or without, and ClusterClass, as far as machines depend on them.

The variables and patches of a class have a module of their own.
"""

# ruff: noqa: RUF012  # pydantic copies defaults

from typing import Annotated, Any

from pydantic import Field

from slipway.bootstrapper.importers.cluster_api.kinds import Endpoint, Reference, Version
from slipway.bootstrapper.importers.foreign import Foreign, Opaque


class NetworkRanges(Foreign):
    """Networks."""

    cidr_blocks: list[str] = []


class ClusterNetwork(Foreign):
    """Networks of the cluster."""

    api_server_port: Annotated[int, Field(alias="apiServerPort")] = 0
    services: NetworkRanges = NetworkRanges()
    pods: NetworkRanges = NetworkRanges()
    service_domain: str = ""


class ClassReference(Opaque):
    """A reference to a ClusterClass, v1beta2."""

    name: str = ""
    namespace: str = ""


class Variable(Opaque):
    """A value of a variable."""

    name: str
    value: Annotated[Any, Field(repr=False)] = None


class Overrides(Opaque):
    """Values of variables for some machines only."""

    overrides: list[Variable] = []


class TopologyControlPlane(Opaque):
    """Control-plane machines of a topology."""

    replicas: int | None = None
    variables: Overrides = Overrides()


class TopologyMachines(Opaque):
    """Workers of a topology."""

    class_: Annotated[str, Field(alias="class")] = ""
    name: str = ""
    replicas: int | None = None
    variables: Overrides = Overrides()


class TopologyWorkers(Opaque):
    """All workers of a topology."""

    machine_deployments: list[TopologyMachines] = []
    machine_pools: list[TopologyMachines] = []


class Topology(Opaque):
    """A managed topology."""

    class_: Annotated[str, Field(alias="class")] = ""
    class_namespace: str = ""
    class_ref: ClassReference = ClassReference()
    control_plane: TopologyControlPlane = TopologyControlPlane()
    version: Version = ""
    workers: TopologyWorkers = TopologyWorkers()
    variables: list[Variable] = []


class ClusterSpec(Foreign):
    """A Cluster."""

    paused: bool | None = None
    cluster_network: ClusterNetwork = ClusterNetwork()
    control_plane_endpoint: Endpoint = Endpoint()
    control_plane_ref: Reference | None = None
    infrastructure_ref: Reference | None = None
    topology: Topology | None = None
    availability_gates: Any = None


class TemplateReference(Opaque):
    """A reference in a ClusterClass: `ref` in v1beta1, `templateRef` in v1beta2."""

    ref: Reference | None = None
    template_ref: Reference | None = None

    @property
    def to(self) -> Reference | None:
        """The template."""
        return self.ref or self.template_ref


class ClassControlPlane(TemplateReference):
    """The control plane of a class."""

    machine_infrastructure: TemplateReference = TemplateReference()


class ClassTemplates(Opaque):
    """Templates of workers; v1beta1 has one level more."""

    bootstrap: TemplateReference = TemplateReference()
    infrastructure: TemplateReference = TemplateReference()


class ClassMachines(ClassTemplates):
    """Workers of a class."""

    class_: Annotated[str, Field(alias="class")] = ""
    template: ClassTemplates | None = None

    @property
    def templates(self) -> ClassTemplates:
        """The templates."""
        return self.template or self


class ClassWorkers(Opaque):
    """All workers of a class."""

    machine_deployments: list[ClassMachines] = []
    machine_pools: list[ClassMachines] = []


class ClusterClassSpec(Opaque):
    """A ClusterClass."""

    infrastructure: TemplateReference = TemplateReference()
    control_plane: ClassControlPlane = ClassControlPlane()
    workers: ClassWorkers = ClassWorkers()
