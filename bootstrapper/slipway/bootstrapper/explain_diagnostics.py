"""The diagnostics of an explanation: what holds for the machine or the server, and for no single field or format."""

from collections.abc import Iterator

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.delivery.fetching import is_fetched
from slipway.bootstrapper.delivery.stubs.formats import MOST_BYTES
from slipway.contract.errors import SlipwayError
from slipway.contract.source_position import with_remedy
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

NOT_CHOSEN = frozenset({"PROVISIONER_NOT_ALLOWED", "PROVISIONER_NOT_FOUND", "UNSUPPORTED_FORMAT", "UNSUPPORTED_TARGET"})
"""Reasons for which a spec's own wish for a provisioner leads nowhere: codes of the diagnostics that say so."""

VERSION_NOT_ALLOWED = "PROVISIONER_VERSION_NOT_ALLOWED"
"""Code of the diagnostic about a version that the operator does not allow."""


def unusable_engines(bootstrapper: Bootstrapper) -> Iterator[diagnosticpb.Diagnostic]:
    """Give a warning for each engine that is installed, and not compared since it cannot be used."""
    for engine in bootstrapper.compiler.engines.unusable:
        yield diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_WARNING, code="ENGINE_UNUSABLE", message=engine.sentence
        )


def refused_versions(bootstrapper: Bootstrapper) -> Iterator[diagnosticpb.Diagnostic]:
    """Report each version of an allowed provisioner that has no column since the operator does not allow it."""
    allowed, rules = bootstrapper.policy.allowed_provisioners, bootstrapper.policy.versions
    refused = {
        (instance.info.name, instance.info.implementation_version): rules.refusal(instance.info)
        for instance in bootstrapper.provisioners.instances()
        if allowed is None or instance.info.name in allowed
    }
    for (name, version), reason in sorted(refused.items()):
        if reason:
            yield diagnosticpb.Diagnostic(
                severity=diagnosticpb.SEVERITY_WARNING,
                code=VERSION_NOT_ALLOWED,
                message=f"provisioner {name} {version} is not used: {reason}",
            )


def why_not_chosen(bootstrapper: Bootstrapper, subject: CheckedSubject) -> Iterator[diagnosticpb.Diagnostic]:
    """Report why no provisioner is chosen for the machine as its spec asks, whichever else renders it."""
    try:
        bootstrapper.chosen(subject)
    except SlipwayError as error:
        for violation in error.violations if error.reason in NOT_CHOSEN else ():
            yield diagnosticpb.Diagnostic(
                severity=diagnosticpb.SEVERITY_WARNING,
                code=error.reason,
                message=with_remedy(violation.description, violation.remedy),
                field_path=violation.path,
            )


def delivery(bootstrapper: Bootstrapper, subject: CheckedSubject) -> Iterator[diagnosticpb.Diagnostic]:
    """Report how the user data reaches the machine, where the spec says it and the operator allows something."""
    if is_fetched(subject.spec) and bootstrapper.fetching is not None:
        yield diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_INFO,
            code="DELIVERY_FETCH",
            message=f"the machine gets a stub of at most {MOST_BYTES} bytes and fetches its user data, since "
            "delivery.mode is Fetch: what is renderable is so with the stub",
            field_path="spec.delivery.mode",
        )
