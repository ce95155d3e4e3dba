"""Reads documents for some machines only: what is wrong with a document of another machine refuses none of these.

Only what a selected machine cannot depend on is left aside: configs, what owns machines, and texts that cannot be read.
A machine that needs one of them is refused, with everything that was wrong.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeVar

from slipway.bootstrapper.documents.native import CONFIG, TEMPLATE, is_native
from slipway.bootstrapper.importers.cluster_api.machine_set import FOREIGN_CONFIGS
from slipway.bootstrapper.importers.substitution import Expansion, VariablesUnset, expand_all
from slipway.bootstrapper.namespaces import namespace_named
from slipway.contract.source_position import Position, SourceError, SourceProblem
from slipway.contract.yaml_document import Document, Source
from slipway.contract.yaml_limits import Limits, limits_together
from slipway.contract.yaml_source import load_documents

_PLANE = "KubeadmControlPlane"
_OWNERS = ("MachineDeployment", "MachineSet", "MachinePool", "Machine")
_CONFIGS = (CONFIG, TEMPLATE, *(kind for kind in FOREIGN_CONFIGS if kind != _PLANE))
_VALUES = ("ConfigMap", "Secret")
_PLANE_SUFFIXES = ("", "-init", "-join")
_DIVIDER = re.compile(r"^---(?=\s|\Z)", re.MULTILINE)
_UNREAD = "cannot be read, and is left alone: its machines are not selected"
_LEFT = "has mistakes, and is left alone: its machines are not selected"

Read = TypeVar("Read")


class Selected:
    """Reads what some machines need, and notes what is left aside."""

    def __init__(self, names: Collection[str], *, set_missing: bool) -> None:
        """Begin.

        Args:
            names: the machines.
            set_missing: placeholders stand for what is missing, so a Secret that is wrong is not left aside.
        """
        self._names = names
        self._left_aside = (*_OWNERS, *_CONFIGS, *(() if set_missing else _VALUES))
        self._set_missing = set_missing
        self._notes: list[SourceProblem] = []
        self._wrong: list[SourceProblem] = []

    def documents(
        self, texts: Mapping[str, str], variables: Mapping[str, str] | None
    ) -> tuple[list[Document], dict[str, Expansion]]:
        """Read the documents that can be read, with the variables filled in; with None they are text.

        What uses a variable that is not set counts as wrong.
        """
        documents: list[Document] = []
        expansions: dict[str, Expansion] = {}
        limits = limits_together()
        for file, text in texts.items():
            try:
                expansion = self._expanded(file, text, variables) if variables is not None else None
            except SourceError as error:
                self._note(error.problems[0], _UNREAD)
                continue
            if expansion is not None:
                expansions[file] = expansion
            for piece in _pieces(text if expansion is None else expansion.text):
                documents += self._read(piece, file, expansion, limits)
        return documents, expansions

    def read(
        self, documents: list[Document], read: Callable[[list[Document]], Read], *, instead_of: SourceError
    ) -> tuple[Read, list[SourceProblem]]:
        """Read documents with as many of them as have no mistakes; give the notes on what was left aside.

        Raises:
            SourceError: `instead_of`, where the machines need what is wrong.
        """
        wrong = self._wrong
        while True:
            for problem in wrong:
                documents = self._without(documents, problem, instead_of)
            try:
                return read(documents), self._notes
            except SourceError as error:
                wrong = [next((each for each in error.problems if self._may_leave(documents, each)), error.problems[0])]

    def _expanded(self, file: str, text: str, variables: Mapping[str, str]) -> Expansion:
        try:
            return expand_all({file: text}, variables=variables, set_missing=self._set_missing)[file]
        except VariablesUnset as error:
            self._wrong += error.uses
            return expand_all({file: text}, variables=variables, set_missing=True)[file]

    def _read(self, piece: tuple[int, str], file: str, expansion: Expansion | None, limits: Limits) -> list[Document]:
        first, text = piece

        def original(position: Position) -> Position:
            position = Position(position.line + first, position.column)
            return position if expansion is None else expansion.original(position)

        try:
            documents = load_documents(text, file=file, original=original, limits=limits)
        except SourceError as error:
            self._note(error.problems[0], _UNREAD)
            return []
        return [each for document in documents for each in _flat(document)]

    def _without(self, documents: list[Document], problem: SourceProblem, error: SourceError) -> list[Document]:
        """Give the documents without the one that has a problem, or without the part that has it.

        Raises:
            SourceError: `error`, where it must stay.
        """
        wrong = _holder(documents, problem)
        if wrong is None or not self._may_leave(documents, problem):
            raise error
        kind, name, _ = known = _key(wrong)
        self._note(problem, _LEFT, f"{kind}/{name}")
        if kind == _PLANE:
            return [_with_version_only(each) if each is wrong else each for each in documents]
        return [each for each in documents if _key(each) != known]

    def _may_leave(self, documents: list[Document], problem: SourceProblem) -> bool:
        """Return whether the selected machines may be read without what has a problem."""
        wrong = _holder(documents, problem)
        kind, name, _ = _key(wrong) if wrong else ("", "", "")
        if wrong is None or not name:
            return False
        if kind == _PLANE:
            planes = {f"{name}{suffix}" for suffix in _PLANE_SUFFIXES}
            return planes.isdisjoint(self._names) and _is_of_own_machines(wrong, problem)
        return kind in self._left_aside and not (kind in _OWNERS and name in self._names)

    def _note(self, problem: SourceProblem, message: str, what: str = "") -> None:
        self._notes.append(replace(problem, path=what, message=message))


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Give the documents of a text, each with the number of lines before it; `---` at the margin ends one always."""
    starts = [0, *(match.start() for match in _DIVIDER.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        if text[start:end].strip():
            yield text.count("\n", 0, start), text[start:end]


def _flat(document: Document) -> Iterator[Document]:
    """Give the items of a List as documents; one that holds our own kinds stays as it is."""
    value = document.value
    items = value.get("items") if isinstance(value, dict) and value.get("kind") == "List" else None
    items = items if isinstance(items, list) else []
    shapes = ((item, document.source.shape(("items", index))) for index, item in enumerate(items))
    flat = [Document(item, Source(document.source.file, shape)) for item, shape in shapes if shape]
    yield from flat if flat and not any(map(is_native, flat)) else [document]


def _holder(documents: list[Document], problem: SourceProblem) -> Document | None:
    """Give the document in which a problem stands: the last one that begins before it."""
    before = [
        (start, index)
        for index, each in enumerate(documents)
        if each.source.file == problem.file
        and problem.position
        and (start := each.source.position(())) <= problem.position
    ]
    return documents[max(before)[1]] if before else None


def _key(document: Document) -> tuple[str, str, str]:
    """Give kind, name and namespace of a document, each "" where it has none."""
    value = document.value if isinstance(document.value, dict) else {}
    metadata: Any = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    kind, name, namespace = value.get("kind"), metadata.get("name"), metadata.get("namespace")
    return str(kind), str(name or ""), namespace_named(str(namespace or ""))


def _is_of_own_machines(plane: Document, problem: SourceProblem) -> bool:
    """Return whether a problem stands in that part of a control plane on which no machines of others depend."""
    spec, shape = plane.value.get("spec"), plane.source.shape(("spec",))
    starts = shape.keys.items() if shape else ()
    before = [key for key, start in starts if problem.position and start <= problem.position]
    return isinstance(spec, dict) and bool(before) and before[-1] != "version" and spec.keys() != {"version"}


def _with_version_only(plane: Document) -> Document:
    return replace(plane, value={**plane.value, "spec": {"version": plane.value["spec"].get("version")}})
