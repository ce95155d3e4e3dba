"""Where a problem is for a person: in the document, in the layer, or at the field that caused it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.feature_uses import Use, uses
from slipway.contract.items import origin_of, path_in_item, within
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

_EXTENSIONS = ".extensions"
_MADE_FILES = "os.files["


def field_name(problem: Problem, *, imported: bool = False) -> str:
    """Name the field as the user wrote it, or else by its path in a spec; of an imported item the field within it, too.

    What was lowered first has a path in something else than the item.
    """
    if not problem.origin.path:
        prefix = "spec." if problem.path.startswith("intent.kubernetes.") else ""
        return prefix + spec_path(problem.path)
    place = describe(problem.origin)
    if not imported or problem.origin.made_by:
        return place
    return f"{place}{person_path(path_in_item(problem.path, bundlepb.BootstrapBundle.DESCRIPTOR))}"


def spec_path(path: str) -> str:
    """Name a bundle's field as a person knows it: facts are the machine's, the rest of the intent is the spec's."""
    if path in {"intent.role", "intent.kubernetes_version"}:
        return person_path(path.replace("intent.", "machine."))
    return person_path(path.removeprefix("intent."))


def person_field(path: str) -> str:
    """Name the field of an error as a person knows it, where a provisioner named it as it stands in the bundle."""
    return spec_path(bundle_path(path)) if path.startswith(("bundle.", "intent.")) else path


def bundle_path(path: str) -> str:
    """Return the bundle's path of what a provisioner names: it may name fields of the bundle or of the request."""
    return path.removeprefix("bundle.")


def as_written(problems: Iterable[Problem], layers: Layers) -> Iterator[Problem]:
    """Return the problems where their fields were written: twice for a merged item of which both layers have it."""
    for problem in problems:
        part = problem.part if within(problem.part, problem.feature) else problem.feature
        origins = layers.origins(problem.path, problem.origin, part)
        yield from (replace(problem, origin=origin) for origin in origins)


def place_diagnostics(
    diagnostics: Iterable[diagnosticpb.Diagnostic], layers: Layers
) -> Iterator[diagnosticpb.Diagnostic]:
    """Return diagnostics with the places where their fields were written: of a merged item the part for the role."""
    for diagnostic in diagnostics:
        placed = diagnosticpb.Diagnostic()
        placed.CopyFrom(diagnostic)
        if diagnostic.HasField("origin"):
            *_, origin = layers.origins(bundle_path(diagnostic.field_path), diagnostic.origin)
            placed.origin.CopyFrom(origin)
        yield placed


def at_their_causes(problems: Iterable[Problem], neutral: bundlepb.BootstrapBundle) -> Iterator[Problem]:
    """Return the problems; those of an engine's files for text of an extension at the fields that hold it.

    An engine's file has no place in anybody's document. When it is refused for text of an extension, the text came
    from a field of the Kubernetes part: that field is what the person can change.
    """
    causes: list[Use] | None = None
    reported = False
    for problem in problems:
        made = problem.path.startswith(_MADE_FILES) and problem.origin.made_by and not problem.origin.path
        if made and causes is None:
            causes = [use for use in uses(neutral) if use.path.startswith("intent.") and use.id.endswith(_EXTENSIONS)]
        if not (made and causes):
            yield problem
        elif not reported:
            reported = True
            yield from (_at(use, problem) for use in causes)


def _at(use: Use, problem: Problem) -> Problem:
    origin = origin_of(use.item) if use.item is not None else problem.origin
    return replace(problem, feature=use.id, part="", path=use.path, origin=origin)
