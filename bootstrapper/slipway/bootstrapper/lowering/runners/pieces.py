"""Contents cut into pieces that are known now and machine facts between them.

A provisioner writes the pieces (secrets and all) as files of their own; the runner puts them together on the
machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from slipway.contract.content import normal_segments
from slipway.contract.errors import UnsupportedFeature, Violation
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

FACT_NAMES: dict[contentpb.FactKind.ValueType, str] = {
    kind: name.removeprefix("FACT_KIND_").lower().replace("_", "-") for name, kind in contentpb.FactKind.items() if kind
}
"""Kind of a machine fact -> name of the file in which the machine keeps it."""


@dataclass(frozen=True)
class SplicedFact:
    """A machine fact at its place in a content."""

    kind: contentpb.FactKind.ValueType
    encoding: contentpb.SpliceEncoding.ValueType

    @property
    def name(self) -> str:
        """Name of the file in which the machine keeps the fact."""
        return FACT_NAMES[self.kind]


def pieces(content: contentpb.Content, origin: diagnosticpb.Origin) -> Iterator[contentpb.Content | SplicedFact]:
    """Give the parts of a content in order; none for an empty one.

    Raises:
        UnsupportedFeature: a part is text of an extension, which only its own program could render.
    """
    known: list[contentpb.Segment] = []
    for segment in normal_segments(content):
        kind = segment.WhichOneof("value")
        if kind == "extension":
            raise UnsupportedFeature(
                f"{place(origin)}: text of an extension cannot be lowered",
                violations=[
                    Violation(
                        place(origin),
                        "holds template text that only its own program can render",
                        remedy="write the text without template, or a machine fact in its place",
                    )
                ],
            )
        if kind != "fact":
            known.append(segment)
            continue
        if known:
            yield contentpb.Content(segments=known)
            known = []
        yield SplicedFact(segment.fact.kind, segment.encoding)
    if known:
        yield contentpb.Content(segments=known)


def place(origin: diagnosticpb.Origin) -> str:
    """Say for people where an item was written."""
    return ": ".join(part for part in (origin.document, origin.path) if part) or "slipway"
