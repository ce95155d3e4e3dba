"""What a neutral bundle is compiled to, and what of it the machines of a class have in common."""

from dataclasses import dataclass, field

from slipway.bootstrapper.compilation.machine_classes import CompiledClass
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.problems.problem import Problem
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb


@dataclass(slots=True)
class Compiled:
    """The result for a neutral bundle.

    Attributes:
        bundle: the lowered bundle, features computed; its SecretMaterial is not collected yet.
        lowered: what was lowered.
        refusals: what is not supported; with any of them the bundle must not be rendered.
        omitted: what was left out because the spec allows it.
        diagnostics: remarks.
        draft: the state before the execution was lowered, to go on from when the provisioner refuses items.
    """

    bundle: bundlepb.BootstrapBundle
    lowered: list[bootstrappb.Lowered] = field(default_factory=list)
    refusals: list[Problem] = field(default_factory=list)
    omitted: list[Problem] = field(default_factory=list)
    diagnostics: list[diagnosticpb.Diagnostic] = field(default_factory=list)
    draft: Draft | None = None


def class_of(unfinished: Draft, finished: Compiled) -> CompiledClass:
    """Give what the machines of a class have in common, of a machine that is finished and refused nothing."""
    features = bundlepb.BootstrapBundle(
        required_features=finished.bundle.required_features, features_computed=finished.bundle.features_computed
    )
    return CompiledClass(unfinished, tuple(finished.omitted), tuple(finished.diagnostics), features)


def of_class(known: CompiledClass) -> Compiled:
    draft = known.draft.copy()
    return Compiled(draft.bundle, omitted=list(known.omitted), diagnostics=list(known.diagnostics), draft=draft)
