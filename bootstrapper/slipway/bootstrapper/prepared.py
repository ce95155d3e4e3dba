"""A machine that is ready to be rendered: what a Preparer makes, and what is rendered and explained."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.problems.conversion import diagnostic, omission
from slipway.bootstrapper.problems.places import as_written, place_diagnostics
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import secret_pb2 as secretpb


@dataclass(slots=True)
class Prepared:
    """A machine whose provisioner is chosen and whose bundle is lowered for it."""

    subject: CheckedSubject
    candidate: Candidate
    compiled: Compiled
    available: Sequence[secretpb.Secret]
    neutral: bundlepb.BootstrapBundle
    diagnostics: list[diagnosticpb.Diagnostic] = field(default_factory=list)
    request_secrets: Sequence[secretpb.Secret] = ()
    """The secrets of the request."""

    def all_diagnostics(self, further: Iterable[diagnosticpb.Diagnostic] = ()) -> Iterator[diagnosticpb.Diagnostic]:
        """Return what a person should know of the machine: what was left out too, and a provisioner's `further`.

        Each has the place where its field was written, so that every answer about the machine reports the same.
        """
        subject, compiled = self.subject, self.compiled
        omitted = (
            diagnostic(omission(problem, subject.spec)) for problem in as_written(compiled.omitted, subject.layers)
        )
        together = [*self.diagnostics, *compiled.diagnostics, *omitted, *further]
        return place_diagnostics(together, subject.layers)
