"""People's YAML is read here, into plain trees that still know where each of their fields stands.

yaml.safe_load would do for machines, but it forgets lines, lets the last of two equal keys win in silence,
reads numbers and booleans otherwise than Kubernetes does, and lets a small document unfold to gigabytes. This
loader builds on the event stream of libyaml (of which Go's yaml is a port), with bounds on size, depth and
expansion.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import yaml

from slipway.contract.source_position import (
    FieldPath,
    Position,
    SourceError,
    SourceProblem,
    path_text,
)
from slipway.contract.yaml_document import Document, Shape, Source, Tree
from slipway.contract.yaml_limits import Limits
from slipway.contract.yaml_scalars import TAG_PREFIX, ScalarReader, kubernetes_scalar

Event = Any
"""An event of PyYAML, whose stubs do not know the events' own fields."""

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_COLLECTION_TAGS = frozenset({None, "!", TAG_PREFIX + "map", TAG_PREFIX + "seq"})


_NO_CHILDREN: dict[Any, Any] = {}
"""Shared by all scalars, which are most of a text, and never written to."""


def load_documents(
    text: str,
    *,
    file: str,
    original: Callable[[Position], Position] | None = None,
    limits: Limits | None = None,
    scalars: ScalarReader = kubernetes_scalar,
) -> list[Document]:
    """Read all documents of a YAML (or JSON) text; empty ones are left out.

    Args:
        text: the text.
        file: its name, for messages.
        original: maps a place in `text` to one in the file, when `text` was made from it by substitution.
        limits: bounds; the defaults hold a set of manifests with a megabyte of ConfigMaps.
        scalars: what scalars mean.

    Raises:
        SourceError: not YAML, over a limit, a duplicate or non-text key, an unknown tag or anchor.
    """
    composer = _Composer(text, file, original or (lambda position: position), limits or Limits(), scalars)
    try:
        return [document for document in composer.documents() if document.value is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = composer.place(mark) if mark else None
        reason = _TAB if mark and _is_tab(text, mark) else _reason(error)
        raise SourceError([SourceProblem(file, position, "", f"not YAML: {reason}")]) from None
    except yaml.reader.ReaderError as error:
        raise SourceError([composer.unreadable(error.position)]) from None


_TAB = "a tab: indent with spaces"


def _is_tab(text: str, mark: Any) -> bool:
    """Return whether a tab stands where the parser stopped."""
    line = next(itertools.islice(text.splitlines(), mark.line, None), "")
    return line[mark.column : mark.column + 1] == "\t"


def _reason(error: yaml.MarkedYAMLError) -> str:
    problem = error.problem or error.context or "cannot be parsed"
    if _LOADER is not yaml.SafeLoader:
        return problem
    # libyaml's messages are fixed text; the pure Python parser's name tokens and characters of the document.
    return problem.split(", but")[0].split("'")[0].strip()


@dataclass(slots=True)
class _Composer:
    """Builds documents from events. One instance reads one text."""

    text: str
    file: str
    original: Callable[[Position], Position]
    limits: Limits
    scalars: ScalarReader
    nodes: int = 0
    repeated: int = 0
    """Characters that stand for no text of their own: those of aliases."""

    anchors: dict[str, tuple[Tree, Shape]] = field(default_factory=dict)
    events: Iterator[Event] = field(default_factory=lambda: iter(()))

    def documents(self) -> Iterator[Document]:
        if len(self.text) > self.limits.max_characters:
            message = f"larger than {self.limits.max_characters} characters: split it"
            raise SourceError([SourceProblem(self.file, None, "", message)])
        self.events = iter(yaml.parse(self.text, Loader=_LOADER))
        count = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                count += 1
                if count > self.limits.max_documents:
                    raise self.error(event, (), f"more than {self.limits.max_documents} documents: split them")
                self.anchors = {}
                value, shape = self.node(next(self.events), ())
                yield Document(value, Source(self.file, shape))

    def node(self, event: Event, path: FieldPath) -> tuple[Tree, Shape]:
        if isinstance(event, yaml.AliasEvent):
            return self.alias(event, path)
        self.count(1, event, path)
        shape = Shape(self.place(event.start_mark))
        if isinstance(event, yaml.ScalarEvent):
            shape.keys = shape.children = _NO_CHILDREN
            value = self.scalar(event, shape, path)
        elif len(path) >= self.limits.max_depth:
            raise self.error(event, path, f"nested deeper than {self.limits.max_depth} levels")
        elif event.tag not in _COLLECTION_TAGS:
            raise self.error(event, path, "a tag that Kubernetes does not know")
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self.sequence(shape, path)
        else:
            value = self.mapping(shape, path)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, shape)
        return value, shape

    def alias(self, event: Event, path: FieldPath) -> tuple[Tree, Shape]:
        if event.anchor not in self.anchors:
            raise self.error(event, path, "an alias of an anchor that is not defined before it")
        value, shape = self.anchors[event.anchor]
        self.count(shape.size, event, path)
        self.repeated += shape.length
        if len(self.text) + self.repeated > self.limits.max_characters:
            raise self.error(event, path, f"more than {self.limits.max_characters} characters, aliases expanded")
        if len(path) + _depth(value) > self.limits.max_depth:
            raise self.error(event, path, f"nested deeper than {self.limits.max_depth} levels")
        return deepcopy(value), shape

    def scalar(self, event: Event, shape: Shape, path: FieldPath) -> Tree:
        shape.style, shape.text, shape.length = event.style, event.value, len(event.value)
        try:
            value = self.scalars(event.value, event.tag, event.implicit[0])
        except ValueError as error:
            raise self.error(event, path, str(error)) from None
        if isinstance(value, float) and not math.isfinite(value):
            raise self.error(event, path, "not a finite number: put text in quotes")
        return value

    def sequence(self, shape: Shape, path: FieldPath) -> list[Tree]:
        items: list[Tree] = []
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            index = len(items)
            value, child = self.node(event, (*path, index))
            # An item that is an alias stands elsewhere than what it means.
            shape.keys[index] = self.place(event.start_mark) if isinstance(event, yaml.AliasEvent) else child.start
            shape.children[index] = child
            shape.size += child.size
            shape.length += child.length
            items.append(value)
        return items

    def mapping(self, shape: Shape, path: FieldPath) -> dict[str, Tree]:
        fields: dict[str, Tree] = {}
        merged: list[tuple[Tree, Shape]] = []
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and event.value == "<<":
                merged.append(self.merge(event, path))
                continue
            key = self.key(event, path)
            if key in fields:
                first = shape.keys[key].line
                raise self.error(event, (*path, key), f"duplicate key, first used in line {first}")
            shape.keys[key] = self.place(event.start_mark)
            fields[key], shape.children[key] = self.node(next(self.events), (*path, key))
            shape.size += shape.children[key].size + 1
            shape.length += shape.children[key].length + len(key)
        for value, other in merged:
            _merge_into(fields, shape, value, other)
        return fields

    def key(self, event: Event, path: FieldPath) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise self.error(event, path, "a key must be text")
        value = self.scalar(event, Shape(self.place(event.start_mark)), path)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str | int):
            return str(value)
        raise self.error(event, path, "a key must be text: put it in quotes")

    def merge(self, event: Event, path: FieldPath) -> tuple[Tree, Shape]:
        value, shape = self.node(next(self.events), (*path, "<<"))
        if isinstance(value, dict):
            return value, shape
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(event, path, "<< needs a mapping or a list of mappings")
        together: dict[str, Tree] = {}
        joined = Shape(shape.start, size=shape.size)
        for index, item in enumerate(value):
            _merge_into(together, joined, item, shape.children[index])
        return together, joined

    def count(self, nodes: int, event: Event, path: FieldPath) -> None:
        self.nodes += nodes
        if self.nodes > self.limits.max_nodes:
            raise self.error(event, path, f"more than {self.limits.max_nodes} values, aliases expanded")
        if (together := self.limits.together) is not None:
            together.used += nodes
            if together.is_used_up:
                message = f"more than {together.most} values in all such texts together, aliases expanded"
                raise self.error(event, path, message)

    def place(self, mark: Any) -> Position:
        return self.original(Position(mark.line + 1, mark.column + 1))

    def error(self, event: Event, path: FieldPath, message: str) -> SourceError:
        return SourceError([SourceProblem(self.file, self.place(event.start_mark), path_text(path), message)])

    def unreadable(self, offset: int) -> SourceProblem:
        before = self.text[:offset]
        position = Position(before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)
        return SourceProblem(self.file, self.original(position), "", "not YAML: a character that YAML does not allow")


def _merge_into(fields: dict[str, Tree], shape: Shape, value: dict[str, Tree], other: Shape) -> None:
    """Add the fields that are not there yet: the mapping's own ones win, then the earlier merged ones."""
    for key, item in value.items():
        if key not in fields:
            fields[key] = item
            shape.keys[key], shape.children[key] = other.keys[key], other.children[key]
            shape.size += other.children[key].size + 1
            shape.length += other.children[key].length + len(key)


def _depth(value: Tree) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0
