"""What a person should know of a machine that was given: whoever asks for it is told the same, of the same places."""

from collections.abc import Iterable

from slipway.bootstrapper.assembly.layers import Layers
from slipway.bootstrapper.preparer import Prepared
from slipway.bootstrapper.refusals import as_written, bundle_path, omissions
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb


def remarks(prepared: Prepared, further: Iterable[diagnosticpb.Diagnostic] = ()) -> list[diagnosticpb.Diagnostic]:
    """Give the remarks on a machine that was prepared, what was left out among them, and a provisioner's `further`."""
    subject, compiled = prepared.subject, prepared.compiled
    omitted = omissions(as_written(compiled.omitted, subject.layers), subject.spec)
    return placed([*prepared.diagnostics, *compiled.diagnostics, *omitted, *further], subject.layers)


def placed(told: Iterable[diagnosticpb.Diagnostic], layers: Layers) -> list[diagnosticpb.Diagnostic]:
    """Give remarks with the places of what they are about: of a merged item the part for the role, where it says so."""
    found = []
    for one in told:
        copy = diagnosticpb.Diagnostic()
        copy.CopyFrom(one)
        if one.HasField("origin"):
            *_, origin = layers.origins(bundle_path(one.field_path), one.origin)
            copy.origin.CopyFrom(origin)
        found.append(copy)
    return found
