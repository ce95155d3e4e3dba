"""The question that is put to the bootstrapper: spec, cluster and machine, as Cluster API's objects have them."""

from typing import cast

from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.bootstrapper.documents.native import NativeConfig, read_native
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.importers.cluster_api.infrastructure import infrastructure_of, set_distribution
from slipway.bootstrapper.os_profiles.profile_table import DISTRIBUTION
from slipway.contract.source_position import Position
from slipway.contract.yaml_document import Document, Shape, Source
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.owner import Owner
from slipway.controller.ownership import annotation
from slipway.controller.reasons import Reason
from slipway.controller.wrapping import ANNOTATION
from slipway.kubernetes_api.resources import SLIPWAY_CONFIGS, Json
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

UNINITIALIZED = "node.cluster.x-k8s.io/uninitialized"
"""Taint of a worker whose labels Cluster API has not set yet; it takes it away."""


def read_spec(config: Json) -> specpb.MachineBootstrapSpec:
    """Read the spec of a SlipwayConfig.

    Origins name its kind only: they are shown with the config, and configs of a template remain equal.

    Raises:
        SourceError: everything that is wrong with it, by field path.
    """
    tree = {
        "apiVersion": SLIPWAY_CONFIGS.api_version,
        "kind": SLIPWAY_CONFIGS.kind,
        "metadata": config["metadata"],
        "spec": config.get("spec") or {},
    }
    document = Document(tree, Source("", Shape(Position(1, 1))))
    return cast(NativeConfig, read_native(document, origin=SLIPWAY_CONFIGS.kind)).spec


def subject_of(
    facts: Facts,
    spec: specpb.MachineBootstrapSpec,
    *,
    role: clusterpb.Role.ValueType,
    control_plane_version: str,
    engines: EngineTable,
) -> bootstrappb.Subject:
    """Give the question for a config whose owner and cluster are there.

    Args:
        facts: the config with owner and cluster.
        spec: its spec; a worker's gets Cluster API's taint.
        role: role of the machine.
        control_plane_version: Kubernetes version of the control plane, or "" where it is unknown.
        engines: those that are installed.

    Raises:
        Halt: the spec states a fact otherwise, or the engine's program could not join.
    """
    owner, cluster = facts.owner, facts.cluster
    if owner is None or cluster is None or cluster.endpoint is None:
        raise AssertionError("decided before")
    machine = clusterpb.Machine(name=owner.name, role=role, kubernetes_version=_version(owner.version), uid=owner.uid)
    _set_infrastructure(machine, spec, owner)
    if owner.is_pool:
        _check_pool(spec)
    if annotation(facts.config, ANNOTATION) == "true":
        machine.target.user_data_unchanged = True
    _set_distribution(machine, annotation(facts.config, DISTRIBUTION))
    if role == clusterpb.ROLE_WORKER:
        _check_minor(spec, owner, engines.of_family(cluster.control_plane_family), control_plane_version)
        _add_taint(spec)
    return bootstrappb.Subject(
        spec=spec, cluster=cluster_facts(cluster, control_plane_version or owner.version), machine=machine
    )


def uses_own_token(spec: specpb.MachineBootstrapSpec, role: clusterpb.Role.ValueType) -> bool:
    """Return whether a joining machine brings its own token, or a kubeconfig in place of one."""
    discovery = effective_spec(spec, role).kubernetes.discovery
    return discovery.HasField("file") or discovery.token.HasField("token")


def cluster_facts(cluster: ClusterObject, version: str) -> clusterpb.Cluster:
    """Give what a Cluster that has an endpoint says of itself, with the Kubernetes version of its control plane."""
    if cluster.endpoint is None:
        raise AssertionError("decided before")
    host, port = cluster.endpoint
    result = clusterpb.Cluster(
        name=cluster.name,
        namespace=cluster.namespace,
        endpoint=clusterpb.Endpoint(host=host, port=port),
        kubernetes_version=_version(version),
        pod_cidrs=cluster.ranges("pods"),
        service_cidrs=cluster.ranges("services"),
    )
    if cluster.service_domain:
        result.service_domain = cluster.service_domain
    if cluster.control_plane_family:
        result.control_plane = cluster.control_plane_family
    return result


def _check_pool(spec: specpb.MachineBootstrapSpec) -> None:
    """Refuse what is for one machine: a pool's machines share one Secret."""
    for index, sink in enumerate(spec.reporting.sinks):
        if sink.HasField("put"):
            raise Halt(
                Reason.FACT_CONFLICT,
                f"spec.reporting.sinks[{index}].put: its address is for one machine, and the machines of a MachinePool"
                " share their user data; remove it",
            )


def _set_infrastructure(machine: clusterpb.Machine, spec: specpb.MachineBootstrapSpec, owner: Owner) -> None:
    infrastructure = infrastructure_of(owner.infrastructure_kind)
    if not infrastructure:
        return
    machine.target.infrastructure = infrastructure
    if spec.target.infrastructure not in {"", infrastructure}:
        raise Halt(
            Reason.FACT_CONFLICT,
            f"spec.target.infrastructure: the infrastructure of {owner.kind} {owner.name} is {infrastructure}; "
            "remove the field",
        )


def _set_distribution(machine: clusterpb.Machine, text: str) -> None:
    if text:
        try:
            set_distribution(machine.target, text)
        except ValueError as error:
            raise Halt(Reason.FACT_CONFLICT, f"metadata.annotations[{DISTRIBUTION}]: {error}") from None


def _check_minor(
    spec: specpb.MachineBootstrapSpec, owner: Owner, engine: Engine | None, control_plane_version: str
) -> None:
    if engine is None or not (engine.own_minor_only and control_plane_version):
        return
    program_version = engine.program_version(effective_spec(spec, clusterpb.ROLE_WORKER).engine_options)
    if _minor(program_version or owner.version) != _minor(control_plane_version):
        where = (
            f"spec.engineOptions.{engine.name}.version"
            if program_version
            else f"the version of {owner.kind} {owner.name}"
        )
        raise Halt(
            Reason.ENGINE_VERSION_SKEW,
            f"{where} has another minor version than the control plane, and {engine.name} joins only its own",
        )


def _add_taint(spec: specpb.MachineBootstrapSpec) -> None:
    """Add Cluster API's taint to those that the worker would register with."""
    joined = spec.join.kubernetes.node
    node = joined if joined.HasField("taints") else spec.kubernetes.node
    if all(item.key != UNINITIALIZED for item in node.taints.items):
        node.taints.items.append(kubernetespb.Taint(key=UNINITIALIZED, effect=kubernetespb.TAINT_EFFECT_NO_SCHEDULE))


def _version(text: str) -> str:
    return text if text.startswith("v") else f"v{text}"


def _minor(text: str) -> tuple[str, ...]:
    return tuple(text.removeprefix("v").split(".")[:2])
