"""What controls need on the machine beyond settings: steps after the bootstrap, each with its control as its origin."""

from slipway.bootstrapper.compliance.application import Applied
from slipway.bootstrapper.compliance.evidence import evidence_program
from slipway.bootstrapper.compliance.files import forbidden_bits, paths_of
from slipway.bootstrapper.compliance.names import origin_of_controls
from slipway.bootstrapper.compliance.profile import Files
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.contract.content import literal
from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import spec_pb2 as specpb


def check_compliance(compliance: specpb.Compliance, target: clusterpb.Target) -> None:
    """Refuse profiles where nothing can meet or check them.

    Raises:
        UnsupportedTarget: the machine runs Windows.
    """
    if compliance.profiles and target.os_family == clusterpb.OS_FAMILY_WINDOWS:
        path = compliance.origin.path or "spec.compliance"
        wrong = Violation(f"{path}.profiles", "are not supported on Windows", remedy="leave them out on this machine")
        raise UnsupportedTarget("compliance profiles are for Linux", violations=[wrong])


def add_compliance(bundle: bundlepb.BootstrapBundle, applied: Applied, role: clusterpb.Role.ValueType) -> None:
    """Add the steps of a machine's controls to a neutral bundle, behind those of the user; the last makes evidence."""
    for call, (names, paths) in _repairs(applied).items():
        content = literal(script([[*call, *paths]], programs=["comply"]))
        bundle.commands.post.add(script=content, origin=origin_of_controls(names))
    content = literal(evidence_program(applied, role))
    bundle.commands.post.add(script=content, origin=applied.plain.compliance.origin)


def _repairs(applied: Applied) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """Give the files that steps set: by what is done, the controls that ask for it, and the files."""
    calls: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for name, control in applied.selection.met.items():
        for demand in control.requires:
            if isinstance(demand, Files) and demand.repaired:
                call = ("belong", demand.owner) if demand.owner else ("restrict", forbidden_bits(demand.mode))
                names, paths = calls.setdefault(call, ([], []))
                names.append(name)
                paths += [path for path in paths_of(demand, applied.plain) if path not in paths]
    return {call: (names, paths) for call, (names, paths) in calls.items() if paths}
