"""Every imported item says where it was written, and every finding too; both come from one small object.

A place is a path in the v1beta2 form of a config; it knows the document and the path that the user wrote,
which differ where the config was nested deeper or written in v1beta1.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from slipway.contract.source_position import FieldPath, SourceProblem, path_text
from slipway.contract.yaml_document import Source
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb


@dataclass(frozen=True)
class Place:
    """A field of a foreign config.

    Attributes:
        document: kind and name of the document.
        source: where the document stands.
        base: path of the config in its document.
        path: path in the v1beta2 form of the config.
        moved: for paths in that form, those in the document.
        inner: path within a text that is a document of its own.
    """

    document: str
    source: Source
    base: FieldPath = ()
    path: FieldPath = ()
    moved: Mapping[FieldPath, FieldPath] = field(default_factory=dict)
    inner: str = ""

    def at(self, *parts: str | int) -> "Place":
        """Give the place of a field below this one."""
        return replace(self, path=(*self.path, *parts))

    def within(self, inner: str) -> "Place":
        """Give a place within the text that stands here."""
        return replace(self, inner=inner)

    @property
    def written(self) -> FieldPath:
        """The path in the document, as the user wrote it."""
        for length in range(len(self.path), 0, -1):
            moved = self.moved.get(self.path[:length])
            if moved is not None:
                return (*self.base, *moved, *self.path[length:])
        return (*self.base, *self.path)

    @property
    def text(self) -> str:
        """The path in the document as text."""
        return f"{path_text(self.written)}: {self.inner}" if self.inner else path_text(self.written)

    def origin(self) -> diagnosticpb.Origin:
        """Give the origin of an item that was written here."""
        return diagnosticpb.Origin(document=self.document, path=self.text)

    def problem(self, message: str) -> SourceProblem:
        """Make a problem of this place."""
        return SourceProblem(self.source.file, self.source.position(self.written), self.text, message)


@dataclass
class Findings:
    """What is found out while a config is carried over.

    Attributes:
        problems: what keeps the config from being carried over.
        diagnostics: what is understood differently, or not carried over since it has no effect today either.
        bound_by: what binds the config to its own format.
        needs_jinja: commands only work where cloud-init fills in their values, as it does today.
    """

    problems: list[SourceProblem] = field(default_factory=list)
    diagnostics: list[diagnosticpb.Diagnostic] = field(default_factory=list)
    bound_by: list[diagnosticpb.Origin] = field(default_factory=list)
    needs_jinja: bool = False

    def refuse(self, place: Place, message: str) -> None:
        """Note what cannot be carried over."""
        self.problems.append(place.problem(message))

    def warn(self, place: Place, code: str, message: str) -> None:
        """Note what is understood differently from how a reader might expect it."""
        self._add(diagnosticpb.SEVERITY_WARNING, place, code, message)

    def inform(self, place: Place, code: str, message: str) -> None:
        """Note something that changes nothing."""
        self._add(diagnosticpb.SEVERITY_INFO, place, code, message)

    def bind(self, place: Place) -> None:
        """Note what binds the config to its own format."""
        self.bound_by.append(place.origin())

    def _add(self, severity: diagnosticpb.Severity.ValueType, place: Place, code: str, message: str) -> None:
        diagnostic = diagnosticpb.Diagnostic(severity=severity, code=code, message=message, origin=place.origin())
        self.diagnostics.append(diagnostic)
