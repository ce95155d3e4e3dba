"""A document of YAML as a plain tree, and where each of its fields stands in the file."""

from dataclasses import dataclass, field
from typing import Any

from slipway.contract.source_position import (
    FieldPath,
    Position,
    SourceProblem,
    path_text,
)

Tree = Any
"""A plain tree: dict with text keys, list, text, number, boolean, None. Read only."""


@dataclass(slots=True)
class Shape:
    """What is kept of a node beside its value: where it stands, how it was written, its children."""

    start: Position
    style: str | None = None
    text: str | None = field(default=None, repr=False)
    size: int = 1
    length: int = 0
    """Characters of its keys and scalars, aliases expanded."""

    keys: dict[str | int, Position] = field(default_factory=dict)
    children: dict[str | int, "Shape"] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Source:
    """Where the fields of one document stand.

    Attributes:
        file: name of the file as the user gave it.
        root: shape of the document's root.
    """

    file: str
    root: Shape

    def position(self, path: FieldPath) -> Position:
        """Give the place of a field's key or a list's item, or of the nearest parent that is there."""
        shape, position = self.root, self.root.start
        for part in path:
            if part not in shape.children:
                break
            position, shape = shape.keys[part], shape.children[part]
        return position

    def text_position(self, path: FieldPath, inner: Position) -> Position:
        """Give the line in the file of a place inside a text value, exact for literal blocks (`|`)."""
        shape = self.shape(path)
        if shape is None or shape.style != "|":
            return self.position(path)
        return Position(shape.start.line + inner.line, 1)

    def shape(self, path: FieldPath) -> Shape | None:
        """Give the shape at a path, or None."""
        shape: Shape | None = self.root
        for part in path:
            shape = shape.children.get(part) if shape else None
        return shape

    def problem(self, path: FieldPath, message: str) -> SourceProblem:
        """Make a problem of a field."""
        return SourceProblem(self.file, self.position(path), path_text(path), message)


@dataclass(frozen=True)
class Document:
    """One document of a file: its tree and where the tree's fields stand."""

    value: Tree = field(repr=False)
    source: Source
