"""What binds an imported spec to the format that it was written for: commands that edit files of its layout."""

from collections.abc import Iterable

from slipway.bootstrapper.problems.conversion import unsupported_feature
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.v1alpha1 import spec_pb2 as specpb


def bound_to_other_format(
    spec: specpb.MachineBootstrapSpec, candidate: Candidate, known: Iterable[Candidate] = ()
) -> list[Problem]:
    """Return a problem for everything that binds an imported spec to another format than the candidate's.

    Of the candidates that are known, those of the spec's own format are named.
    """
    own = spec.imported.format
    if candidate.format.secret_format == own:
        return []
    names = dict.fromkeys(other.name for other in known if other.format.secret_format == own)
    who = " or ".join(names) or "a provisioner of that format"
    message = f"edits files of the layout of format {own}, so the config works with that format only"
    remedy, alternative = "leave out what edits those files", f", or choose {who}"
    return [
        Problem("plan.steps", "", message, remedy, origin, alternative=alternative) for origin in spec.imported.bound_by
    ]


def check_layout(spec: specpb.MachineBootstrapSpec, candidate: Candidate, known: Iterable[Candidate]) -> None:
    """Refuse an imported spec that is bound to another format.

    Raises:
        UnsupportedFeature: naming what binds it.
    """
    problems = bound_to_other_format(spec, candidate, known)
    if problems:
        raise unsupported_feature(problems, candidate)
