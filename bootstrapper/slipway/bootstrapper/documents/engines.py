"""The bootstrap engine of a cluster whose facts name none: that of its control-plane machines' own specs."""

from collections.abc import Iterable

from slipway.bootstrapper.assembly.overrides import overrides_of
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.engines.table import installed_engines
from slipway.contract.errors import SpecInvalid
from slipway.v1alpha1 import cluster_pb2 as clusterpb


def named_engine(question: MachineQuestion) -> str:
    """Give the engine that the spec of a machine names for its role, or ""."""
    spec = question.subject.spec
    overrides, _ = overrides_of(spec, question.subject.machine.role)
    return overrides.kubernetes.engine or spec.kubernetes.engine


def engine_doubt(question: MachineQuestion) -> tuple[str, str] | None:
    """Give the field that names an engine which is not installed here, and what is doubtful; None where none does.

    Where the machine is rendered, another package may have added it.
    """
    name, table = named_engine(question), installed_engines()
    if not name or name in table.names or table.broken(name) is not None:
        return None
    field = engine_path(question)
    violation = table.not_installed(name, field)
    return field, f"{violation.description} here; {violation.remedy}"


def check_engine(question: MachineQuestion) -> None:
    """Check that the engine of a machine can be used, where it is one that is installed here.

    Raises:
        SpecInvalid: it cannot.
    """
    name = named_engine(question)
    broken = installed_engines().broken(name or question.subject.cluster.control_plane)
    if broken is not None:
        field = engine_path(question) if name else "cluster.controlPlane"
        raise SpecInvalid("the bootstrap engine of the machine cannot be used", violations=[broken.violation(field)])


def engine_path(question: MachineQuestion) -> str:
    """Give the field by which the spec of a machine names an engine."""
    overrides, part = overrides_of(question.subject.spec, question.subject.machine.role)
    return f"spec.{part}.kubernetes.engine" if overrides.kubernetes.engine else "spec.kubernetes.engine"


def set_control_planes(questions: Iterable[MachineQuestion]) -> None:
    """Put into the facts of each cluster the engine of its control plane, where its specs name one and no fact does.

    The machine that begins the cluster decides, without one the control planes that join, if they agree.
    """
    clusters: dict[tuple[str, str], list[MachineQuestion]] = {}
    for question in questions:
        facts = question.subject.cluster
        clusters.setdefault((facts.namespace, facts.name), []).append(question)
    for machines in clusters.values():
        engine = _engine_of_control_plane(machines)
        for question in machines:
            if engine and not question.subject.cluster.control_plane:
                question.subject.cluster.control_plane = engine


def _engine_of_control_plane(machines: Iterable[MachineQuestion]) -> str:
    by_role: dict[clusterpb.Role.ValueType, set[str]] = {}
    for question in machines:
        by_role.setdefault(question.subject.machine.role, set()).add(named_engine(question))
    engines = by_role.get(clusterpb.ROLE_INIT) or by_role.get(clusterpb.ROLE_CONTROL_PLANE) or set()
    return next(iter(engines)) if len(engines) == 1 else ""
