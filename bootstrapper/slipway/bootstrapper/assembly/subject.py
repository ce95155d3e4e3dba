"""Checks the three parts of a question (spec, cluster, machine) before anything is made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from slipway.bootstrapper.assembly import networks, paths, structure
from slipway.bootstrapper.assembly.joining_commands import CODE as JOINING
from slipway.bootstrapper.assembly.joining_commands import MESSAGE as JOINING_MESSAGE
from slipway.bootstrapper.assembly.joining_commands import joining_paths
from slipway.bootstrapper.assembly.layers import Layers, with_origins
from slipway.bootstrapper.assembly.membership import complete_membership, membership_violations
from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.bootstrapper.assembly.report_items import UNUSED_SINK, UNUSED_SINK_MESSAGE, cluster_sink_index
from slipway.bootstrapper.assembly.subject_rules import (
    check_lists,
    machine_violations,
    path_violations,
    rule_violations,
)
from slipway.bootstrapper.assembly.unworkable import unworkable
from slipway.bootstrapper.compliance import selection
from slipway.bootstrapper.compliance.application import TALOS, Applied, apply_profiles
from slipway.bootstrapper.compliance.remarks import compliance_remarks
from slipway.bootstrapper.engines.kubernetes_version import KubernetesVersionError, parse_kubernetes_version
from slipway.bootstrapper.field_index import FieldIndex, item_index
from slipway.bootstrapper.kubernetes_documents.verdicts import DocumentMistake, document_mistakes
from slipway.contract import validation
from slipway.contract.errors import SpecInvalid, Violation
from slipway.contract.items import Item
from slipway.contract.unknown import unknown_fields
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb

DOCUMENT = "DOCUMENT_DOUBTFUL"
"""Code of a warning about a document of Kubernetes' in a spec."""

CANNOT_WORK = "CANNOT_WORK"
"""Code of a warning about a value of an imported spec that no program takes."""

INVALID = "the spec of the machine is not valid"


@dataclass(frozen=True, slots=True)
class CheckedSubject:
    """A machine whose spec is sound, with the overrides of its role applied; `layers` knows where each field stood.

    `diagnostics` are warnings of what may not work, or what does not and is left as it is, since it was imported.

    With a `plan` of the caller's own there is neither a cluster nor a Kubernetes part. `compliance` is what came of the
    profiles that the spec asks for; they are applied to it.
    """

    spec: specpb.MachineBootstrapSpec
    cluster: clusterpb.Cluster
    machine: clusterpb.Machine
    layers: Layers = field(repr=False)
    plan: planpb.Plan | None = None
    diagnostics: tuple[diagnosticpb.Diagnostic, ...] = ()
    compliance: Applied | None = None

    @property
    def kubernetes_version(self) -> str:
        """Version of Kubernetes that the machine will run, with a leading "v"."""
        version = self.machine.kubernetes_version or self.cluster.kubernetes_version
        return version if version.startswith("v") else f"v{version}"


def check(subject: bootstrappb.Subject) -> CheckedSubject:
    """Check spec, cluster and machine, and apply the role's overrides.

    Raises:
        SpecInvalid: with every rule that is broken. Fields are named as the user wrote them where the origin is known.
    """
    return _checked(subject, machine_violations(subject.machine))


def check_class(subject: bootstrappb.Subject) -> CheckedSubject:
    """Check spec and cluster for all machines of a class, as check() does: the machine has neither name nor uid.

    Raises:
        SpecInvalid: as check(). A spec that depends on the machine's name is refused.
    """
    return _checked(subject, ())


def _checked(subject: bootstrappb.Subject, known: Iterable[Violation]) -> CheckedSubject:
    spec, cluster, machine = subject.spec, subject.cluster, subject.machine
    rules = [*rule_violations(spec), *validation.bounded(validation.violations(cluster, path="cluster")), *known]
    check_lists(INVALID, rules)
    violations = rules + _prefixed("spec", validation.bounded(structure.violations(spec)))
    violations += _prefixed("spec", selection.violations(spec.compliance))
    for name, part in (("spec", spec), ("cluster", cluster)):
        violations += validation.bounded(unknown_fields(part, path=name))
    if not (machine.kubernetes_version or cluster.kubernetes_version):
        remedy = "set it here, or in cluster.kubernetes_version"
        violations.append(Violation("machine.kubernetes_version", "is required", remedy=remedy))
    if not cluster.HasField("endpoint"):
        violations.append(Violation("cluster.endpoint", "is required", remedy="set its host"))
    named = with_origins(spec)
    layers = Layers(named, machine.role)
    effective = effective_spec(named, machine.role)
    complete_membership(effective, machine.name)
    violations.extend(membership_violations(effective, machine.name))
    arguments = [argument.name for argument in effective.kubernetes.control_plane.controller_manager.arguments]
    violations += networks.violations(cluster, machine.role, arguments=arguments)
    doubtful: list[DocumentMistake] = []
    vain: list[Violation] = []
    applied = None
    if not violations:
        applied = apply_profiles(effective, machine.role)
        # Two parts that are sound each may exclude each other once they are merged.
        if applied is not None:
            violations += [
                replace(violation, path=f"spec.{place}")
                for violation in applied.violations
                for place in layers.written(violation.path)
            ]
            layers.controls, layers.shared = places_of(applied, machine.role), applied.shared
        # A profile may refer to the cluster's own secrets, which no person can.
        merged = [
            *structure.violations(applied.plain if applied else effective),
            *paths.reserved(effective.os),
            *path_violations(effective),
        ]
        vain = list(unworkable(effective.os))
        if not spec.HasField("imported"):
            merged, vain = [*merged, *vain], []
        broken, doubtful = _documents(effective, machine.kubernetes_version or cluster.kubernetes_version)
        merged += broken
        merged += paths.reserved_fields(effective.kubernetes, "kubernetes")
        merged += paths.reserved_fields(effective.engine_options, "engine_options")
        violations += [
            replace(violation, path=place) for violation in merged for place in _written(layers, violation.path)
        ]
    if violations:
        index = item_index(spec)
        raise SpecInvalid(
            INVALID,
            violations=[replace(violation, path=field_name(index, violation.path)) for violation in violations],
        )
    remarks = [_diagnostic(effective, DOCUMENT, mistake.path, mistake.message) for mistake in doubtful]
    remarks += [_diagnostic(effective, CANNOT_WORK, each.path, f"{each.description}; {each.remedy}") for each in vain]
    remarks += joining_warnings(effective)
    sink = cluster_sink_index(effective.reporting)
    if sink is not None and machine.role == clusterpb.ROLE_INIT:
        remarks.append(_diagnostic(effective, UNUSED_SINK, f"reporting.sinks[{sink}]", UNUSED_SINK_MESSAGE))
    remarks += compliance_remarks(applied)
    return CheckedSubject(effective, cluster, machine, layers, diagnostics=tuple(remarks), compliance=applied)


def places_of(applied: Applied, role: clusterpb.Role.ValueType) -> Mapping[str, Sequence[str]]:
    """Give the controls by the field paths that they set, whether settings of the kubelet are arguments or not."""
    spec = specpb.MachineBootstrapSpec()
    spec.CopyFrom(applied.plain)
    other = apply_profiles(spec, role, kubelet_arguments=True)
    return {**(other.places if other else {}), **applied.places}


def as_seen_by(
    subject: CheckedSubject, target: clusterpb.Target, *, kubelet_configuration: bool = True
) -> CheckedSubject:
    """Give a machine whose profiles are applied as its operating system and its engine take them.

    Args:
        subject: the machine.
        target: what it runs; Talos does some of it by itself.
        kubelet_configuration: the engine takes a configuration of the kubelet; else its arguments say the same.
    """
    view = TALOS if target.distribution == TALOS else ""
    if subject.compliance is None or (kubelet_configuration and not view):
        return subject
    spec = specpb.MachineBootstrapSpec()
    spec.CopyFrom(subject.compliance.plain)
    if subject.spec.kubernetes.HasField("engine"):
        # It may be another one than the spec's, for a comparison of engines.
        spec.kubernetes.engine = subject.spec.kubernetes.engine
    applied = apply_profiles(
        spec, subject.machine.role, view=view, kubelet_arguments=not (kubelet_configuration or view)
    )
    return replace(subject, spec=spec, compliance=applied)


def _written(layers: Layers, path: str) -> list[str]:
    """Give where a field of the merged spec was written, or the controls that have set it."""
    control = layers.control(path)
    return [f"spec.{place}" for place in layers.written(path)] if control is None else [paths.describe(control)]


def _documents(spec: specpb.MachineBootstrapSpec, version: str) -> tuple[list[Violation], list[DocumentMistake]]:
    """Give what is wrong with documents in a spec, and what is only to be warned of: all of it in an imported one."""
    try:
        series = parse_kubernetes_version(version).series
    except KubernetesVersionError:
        return [], []
    wrong = list(document_mistakes(spec, series))
    fatal = [] if spec.HasField("imported") else [mistake for mistake in wrong if mistake.certain]
    return [Violation(mistake.path, mistake.message) for mistake in fatal], [
        mistake for mistake in wrong if mistake not in fatal
    ]


def joining_warnings(spec: specpb.MachineBootstrapSpec) -> list[diagnosticpb.Diagnostic]:
    """Return a warning for each command or file that joins a domain with a user's password."""
    return [_diagnostic(spec, JOINING, path, JOINING_MESSAGE) for path in joining_paths(spec)]


def _diagnostic(spec: specpb.MachineBootstrapSpec, code: str, place: str, message: str) -> diagnosticpb.Diagnostic:
    item = item_index(spec).holder(place)
    path = f"intent.{place}" if place.startswith("kubernetes.") else place
    remark = diagnosticpb.Diagnostic(
        severity=diagnosticpb.SEVERITY_WARNING, code=code, field_path=path, message=message
    )
    if item is not None and item.message.origin.path:
        remark.origin.CopyFrom(item.message.origin)
        remark.origin.path += person_path(place[len(item.path) :])
    return remark


def written_places(subject: CheckedSubject, path: str, index: FieldIndex[Item] | None = None) -> list[str]:
    """Give where a field of a checked machine's spec, or of the caller's plan, was written: twice at most.

    `index` is that of the spec's items, for a caller that asks about many fields.
    """
    control = subject.layers.control(path)
    if control is not None:
        return [paths.describe(control)]
    item = (item_index(subject.spec) if index is None else index).holder(path)
    if item is None or not item.message.origin.path:
        return [f"spec.{person_path(place)}" for place in subject.layers.written(path)]
    inner = path[len(item.path) :]
    return [_place(origin, inner) for origin in subject.layers.origins(path, item.message.origin)]


def _prefixed(prefix: str, violations: Iterable[Violation]) -> list[Violation]:
    return [replace(violation, path=f"{prefix}.{violation.path}") for violation in violations]


def field_name(index: FieldIndex[Item], path: str) -> str:
    """Give the user's own name for a field path: that of the item's origin, and the rest in the user's spelling."""
    inner = path.removeprefix("spec.")
    if inner != path:
        item = index.holder(inner)
        if item is not None and item.message.origin.path:
            return _place(item.message.origin, inner[len(item.path) :])
    return person_path(path.replace("spec.intent.kubernetes", "spec.kubernetes", 1))


def _place(origin: diagnosticpb.Origin, inner: str) -> str:
    place = f"{origin.path}{person_path(inner)}"
    return f"{origin.document}: {place}" if origin.document else place
