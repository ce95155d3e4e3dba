"""Makes problems of errors and engines' findings, and errors and diagnostics of problems: nothing else does."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from slipway.bootstrapper.field_index import FieldIndex, enclosing, item_index
from slipway.bootstrapper.importers.kept_items import is_of_config
from slipway.bootstrapper.problems.places import bundle_path, field_name
from slipway.bootstrapper.problems.problem import Problem, Severity
from slipway.bootstrapper.problems.remedies import remedy_of_error
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import SlipwayError, UnsupportedFeature, Violation
from slipway.contract.items import Item
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

_WHOLE = "spec"


def locate(problems: Iterable[Problem], bundle: bundlepb.BootstrapBundle) -> Iterator[Problem]:
    """Return problems with the origins that the bundle's items have.

    The place of an error is the item's: its sentence begins with the field within it.
    """
    problems = list(problems)
    if not problems:
        return
    index = item_index(bundle)
    lines = {f"plan.entrypoint.commands[{number}]": line for number, line in enumerate(bundle.plan.entrypoint.commands)}
    for problem in problems:
        line = next((lines[path] for path in enclosing(problem.path) if path in lines), None)
        if line is not None:
            # It is no item of its own: the command that it was made of is where it was written.
            yield replace(problem, origin=line.origin)
            continue
        item = index.holder(problem.path)
        if item is None:
            yield problem
            continue
        inner = person_path(problem.path[len(item.path) :].removeprefix(".")) if problem.is_error else ""
        yield replace(problem, origin=item.message.origin, field=inner)


def problems_of_error(error: SlipwayError, bundle: bundlepb.BootstrapBundle) -> list[Problem]:
    """Return a problem for every field that an error of the bootstrapper names, or one for the whole."""
    feature = error.metadata.get("features", "").split(",")[0] or error.reason
    return list(locate(_problems(error, feature), bundle))


def problems_of_answer(error: UnsupportedFeature, bundle: bundlepb.BootstrapBundle) -> list[Problem]:
    """Return what a provisioner has refused in a bundle: another format may take it."""
    feature = error.metadata.get("features", "").split(",")[0]
    located = locate(_problems(error, feature), bundle)
    return [replace(problem, field="", other_formats=bool(error.violations)) for problem in located]


def place_error(error: SlipwayError, bundle: bundlepb.BootstrapBundle) -> None:
    """Have what a provisioner says of a bundle name the fields that its items were written in; the error is changed.

    A segment of a content is named by the content: in a bundle literals are joined. What Slipway has made by itself has
    no place: the spec as a whole stands for it.
    """
    index = item_index(bundle)
    error.violations = tuple(replace(each, path=_place(index, each.path)) for each in error.violations)


def _place(index: FieldIndex[Item], path: str) -> str:
    inner_path = bundle_path(path)
    item = index.holder(inner_path)
    if item is None:
        return path
    origin = item.message.origin
    if not origin.path:
        return _WHOLE
    place = f"{origin.document}: {origin.path}" if origin.document else str(origin.path)
    inner = "" if origin.made_by else inner_path[len(item.path) :].partition(".segments")[0]
    return f"{place}{person_path(inner)}"


def _problems(error: SlipwayError, feature: str) -> Iterator[Problem]:
    otherwise = remedy_of_error(error)
    for violation in error.violations:
        remedy = violation.remedy or otherwise
        yield Problem(violation.feature or feature, bundle_path(violation.path), violation.description, remedy)
    if not error.violations:
        yield Problem(feature, "", error.message, otherwise)


def unsupported_feature(
    problems: Sequence[Problem], candidate: Candidate, *, imported: bool = False
) -> UnsupportedFeature:
    """Return the error of a machine that a format cannot have; `imported` has it name fields within items."""
    features = sorted({problem.feature for problem in problems if problem.feature})
    names = sorted({_wish(problem) for problem in problems if problem.feature})
    return UnsupportedFeature(
        f"{candidate.name} {candidate.version}, format {candidate.format.format}, cannot honour {', '.join(names)}",
        violations=[violation_of(problem, imported=imported) for problem in problems],
        metadata={"features": ",".join(features), "provisioner": candidate.name},
    )


def _wish(problem: Problem) -> str:
    """Name what is asked for: the field of a config, where an import has made an extension of it."""
    return problem.origin.path if is_of_config(problem.feature, problem.origin) else problem.feature


def violation_of(problem: Problem, *, imported: bool) -> Violation:
    """Return what an error says of a problem; `imported` has it name the field within an item."""
    return _violation(problem, field_name(problem, imported=imported))


def _violation(problem: Problem, path: str) -> Violation:
    inner, part, alternative = problem.field, problem.part, problem.alternative
    return Violation(path, problem.reason, problem.feature, problem.advice, part, inner, alternative)


def diagnostic(problem: Problem) -> diagnosticpb.Diagnostic:
    """Return the diagnostic of a problem."""
    made = diagnosticpb.Diagnostic(
        severity=problem.severity.value, code=problem.code, message=problem.sentence, field_path=problem.path
    )
    if problem.origin.ListFields():
        made.origin.CopyFrom(problem.origin)
    return made


def omission(problem: Problem, spec: specpb.MachineBootstrapSpec) -> Problem:
    """Return the warning of an item that was left out, as the spec, or who imported it, said that it may be."""
    imported = spec.imported.HasField("kind")
    who = "the importer allows where a format has no such thing" if imported else "spec.optionalFeatures allows"
    return replace(
        problem,
        code="OPTIONAL_FEATURE_OMITTED",
        severity=Severity.WARNING,
        message=f"{problem.feature} was left out, as {who}: {problem.sentence}",
        remedy="",
        field="",
        alternative="",
    )
