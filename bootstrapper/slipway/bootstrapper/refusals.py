"""Turns what could not be honoured into one error that people can act on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.field_index import item_index
from slipway.bootstrapper.lowering.draft import Elsewhere, Refusal
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.remedies import remedy_of_error
from slipway.contract.errors import UnsupportedFeature, Violation
from slipway.contract.source_position import with_remedy
from slipway.contract.walk import path_in_item, within
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb


def place(refusal: Refusal) -> str:
    """Name the field as the user wrote it, or else by its path in a spec."""
    if refusal.origin.path:
        return describe(refusal.origin)
    prefix = "spec." if refusal.path.startswith("intent.kubernetes.") else ""
    return prefix + bare_place(refusal.path)


def field_place(refusal: Refusal, *, imported: bool) -> str:
    """Name the field as place() does; of an item that was imported the field within it, too.

    What was lowered first has a path in something else than the item.
    """
    if not imported or not refusal.origin.path or refusal.origin.made_by:
        return place(refusal)
    return f"{place(refusal)}{person_path(path_in_item(refusal.path, bundlepb.BootstrapBundle.DESCRIPTOR))}"


def bare_place(path: str) -> str:
    """Name a bundle's field as a person knows it: facts are the machine's, the rest of the intent is the spec's."""
    if path in {"intent.role", "intent.kubernetes_version"}:
        return person_path(path.replace("intent.", "machine."))
    return person_path(path.removeprefix("intent."))


def person_field(path: str) -> str:
    """Name the field of an error as a person knows it, where a provisioner named it as it stands in the bundle."""
    return bare_place(bundle_path(path)) if path.startswith(("bundle.", "intent.")) else path


def bound(spec: specpb.MachineBootstrapSpec, candidate: Candidate, known: Iterable[Candidate] = ()) -> list[Refusal]:
    """Give a refusal for everything that binds an imported spec to another format than the candidate's.

    Of the candidates that are known, those of the spec's own format are named.
    """
    if candidate.format.secret_format == spec.imported.format:
        return []
    names = dict.fromkeys(one.name for one in known if one.format.secret_format == spec.imported.format)
    who = " or ".join(names) or "a provisioner of that format"
    return [
        Refusal(
            "plan.steps",
            "",
            origin,
            f"edits files of the layout of format {spec.imported.format}, so the config works with that format only",
            f"leave out what edits those files, or choose {who}",
        )
        for origin in spec.imported.bound_by
    ]


def check_bound(spec: specpb.MachineBootstrapSpec, candidate: Candidate, known: Iterable[Candidate]) -> None:
    """Refuse an imported spec that is bound to another format.

    Raises:
        UnsupportedFeature: naming what binds it.
    """
    refusals = bound(spec, candidate, known)
    if refusals:
        raise refused(refusals, candidate)


def bundle_path(path: str) -> str:
    """Give the bundle's field path of what a provisioner names: it may name fields of the bundle or of the request."""
    return path.removeprefix("bundle.")


def said(error: UnsupportedFeature, bundle: bundlepb.BootstrapBundle) -> list[Refusal]:
    """Give what a provisioner has refused in a bundle, with the origins that the bundle's items have."""
    feature = error.metadata.get("features", "").split(",")[0]
    otherwise = remedy_of_error(error)
    refusals = []
    index = item_index(bundle)
    for one in error.violations:
        path = bundle_path(one.path)
        item = index.holder(path)
        origin = diagnosticpb.Origin() if item is None else item.message.origin
        remedy = one.remedy or otherwise
        refusals.append(Refusal(one.feature or feature, path, origin, one.description, remedy, Elsewhere.FORMATS))
    return refusals or [Refusal(feature, "", diagnosticpb.Origin(), error.message, otherwise)]


def sentence(refusal: Refusal) -> str:
    """Say why, and what to do."""
    return with_remedy(refusal.reason, refusal.remedy)


def refused(refusals: Sequence[Refusal], candidate: Candidate, *, imported: bool = False) -> UnsupportedFeature:
    """Make the error of a machine that a format cannot give; `imported` has it name fields within items."""
    features = sorted({one.feature for one in refusals if one.feature})
    return UnsupportedFeature(
        f"{candidate.name} {candidate.version}, format {candidate.format.format}, cannot honour {', '.join(features)}",
        violations=[violation_of(one, imported=imported) for one in refusals],
        metadata={"features": ",".join(features), "provisioner": candidate.name},
    )


def violation_of(refusal: Refusal, *, imported: bool) -> Violation:
    """Give what an error says of a refusal; `imported` has it name the field within an item."""
    return Violation(field_place(refusal, imported=imported), refusal.reason, refusal.feature, refusal.remedy)


def as_written(refusals: Iterable[Refusal], layers: Layers) -> Iterator[Refusal]:
    """Give the refusals with the places of what they are about; of a merged item one for each place, where two are."""
    for one in refusals:
        # Of an item the reason begins with the feature that is not taken, which may be that of one of its fields.
        first = one.reason.partition(" ")[0]
        feature = first if within(first, one.feature) else one.feature
        yield from (replace(one, origin=origin) for origin in layers.origins(one.path, one.origin, feature))


def omissions(omitted: Iterable[Refusal], spec: specpb.MachineBootstrapSpec) -> list[diagnosticpb.Diagnostic]:
    """Warn of every item that was left out, as the spec, or who imported it, said that it may be."""
    imported = spec.imported.HasField("kind")
    who = "the importer allows where a format has no such thing" if imported else "spec.optionalFeatures allows"
    return [
        diagnosticpb.Diagnostic(
            severity=diagnosticpb.SEVERITY_WARNING,
            code="OPTIONAL_FEATURE_OMITTED",
            message=f"{one.feature} was left out, as {who}: {sentence(one)}",
            field_path=one.path,
            origin=one.origin,
        )
        for one in omitted
    ]
