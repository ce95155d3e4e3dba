"""What a format asks of the neutral bundle that is made for it, so that formats with the same setting share one."""

from dataclasses import dataclass

from slipway.bootstrapper.assembly.report_items import asks_for_events
from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.needs import needed
from slipway.bootstrapper.policy import Policy, check_declarations
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.target import resolve, stated
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import secret_pb2 as secretpb

KUBELET_CONFIGURATION = "kubernetes.node.kubelet_configuration"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a neutral bundle owes to the format that it is made for; formats often have it in common.

    Attributes:
        target: the machine's target, complete as far as it is known.
        declared: the secrets that the format declares.
        needed: the cluster's secrets that the machine needs besides, by its engine.
        diagnostics: remarks on what was assumed.
        reports: the machine reports to the operator's addresses.
        takes_plan: the machine is set up by steps.
        kubelet_configuration: its engine takes a configuration of the kubelet.
        literal_events: the spec has literal commands, and asks for their events.
    """

    target: clusterpb.Target
    declared: tuple[secretpb.SecretDeclaration, ...] = ()
    needed: tuple[secretpb.SecretDeclaration, ...] = ()
    diagnostics: tuple[diagnosticpb.Diagnostic, ...] = ()
    reports: bool = False
    takes_plan: bool = True
    kubelet_configuration: bool = True
    literal_events: bool = False

    def key(self) -> tuple[bytes, ...]:
        """Give what distinguishes the bundles of two settings; remarks do not."""
        parts = (self.target, *self.declared, *self.needed)
        flags = (
            b"reports" if self.reports else b"",
            b"plan" if self.takes_plan else b"intent",
            b"arguments" * (not self.kubelet_configuration),
            b"events" * self.literal_events,
        )
        return (*(part.SerializeToString(deterministic=True) for part in parts), *flags)


def setting_for(
    subject: CheckedSubject,
    candidate: Candidate | None,
    *,
    engines: EngineTable,
    policy: Policy,
    has_addresses: bool,
) -> Setting:
    """Give what the neutral bundle of a machine owes to a candidate; None for no candidate in particular.

    `has_addresses`: the operator has addresses for machines to report to.

    Raises:
        SlipwayError: SPEC_INVALID for its engine, UNSUPPORTED_TARGET, PROVISIONER_NOT_ALLOWED for what it declares.
    """
    target = stated(subject.spec.target, subject.machine.target)
    takes_plan = candidate is None or candidate.takes_plan
    secrets = needed(subject, engines, takes_plan=takes_plan)
    configurable = not takes_plan or _takes_kubelet_configuration(subject, engines)
    if candidate is None:
        return Setting(target, needed=secrets, kubelet_configuration=configurable)
    check_declarations(candidate.name, candidate.format)
    target, diagnostics = resolve(target, candidate.format)
    may_report = candidate.takes_plan and not policy.denies_reporting
    linux = target.os_family == clusterpb.OS_FAMILY_LINUX
    sends = linux or target.os_family == clusterpb.OS_FAMILY_WINDOWS
    return Setting(
        target, tuple(candidate.format.secrets), secrets, tuple(diagnostics),
        reports=may_report and sends and has_addresses and _leaves_reporting_open(subject),
        takes_plan=takes_plan,
        kubelet_configuration=configurable,
        literal_events=may_report and linux and asks_for_events(subject.spec),
    )  # fmt: skip


def _takes_kubelet_configuration(subject: CheckedSubject, engines: EngineTable) -> bool:
    """Return whether the engine of a machine with compliance profiles takes a configuration of the kubelet."""
    if subject.compliance is None:
        return True
    engine = engines.choose(subject.spec.kubernetes, subject.cluster)
    return KUBELET_CONFIGURATION in {support.id for support in engine.features}


def _leaves_reporting_open(subject: CheckedSubject) -> bool:
    """Return whether a spec neither sets nor excludes that its machine reports."""
    return not subject.spec.HasField("reporting") and not subject.spec.execution.literal_commands
