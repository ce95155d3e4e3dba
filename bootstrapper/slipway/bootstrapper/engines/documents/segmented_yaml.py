"""Turns document trees into YAML text in which every slot is kept apart from the literal text.

The tree is emitted once by a real encoder with a marker in the place of each slot, and cut at the markers. A
marker is a word that occurs nowhere in the tree, so that a cut can never fall into somebody's text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml

from slipway.bootstrapper.engines.documents.document import Document, Tree
from slipway.bootstrapper.engines.documents.go_yaml import dump_yaml, represent
from slipway.bootstrapper.engines.documents.spliced import Slot, Spliced


@dataclass(frozen=True)
class Splice:
    """A slot at its place in the text.

    Attributes:
        slot: the slot.
        as_json_string: the filler is the whole scalar and is written as a JSON string including its quotes;
            otherwise it stands inside quotes and is written as it is.
    """

    slot: Slot
    as_json_string: bool


class _Marked(str):
    """Text with markers in it; `quote` is the quote that is put around it."""

    __slots__ = ("quote",)

    quote: str


class _Markers:
    """Hands out markers for one text and remembers which slot each stands for."""

    def __init__(self, word: str) -> None:
        self._word = word
        self._slots: list[Slot] = []

    def replace(self, value: Tree) -> Tree:
        if isinstance(value, dict):
            return {key: self.replace(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.replace(item) for item in value]
        if isinstance(value, Spliced):
            end = "w" if value.is_one_value else "z"
            marked = _Marked("".join(self._mark(part, end) for part in value.parts))
            marked.quote = value.quote
            return marked
        return value

    def cut(self, text: str) -> list[str | Splice]:
        pieces: list[str | Splice] = []
        position = 0
        for match in re.finditer(rf'"{self._word}(\d+)w"|{self._word}(\d+)z', text):
            if match.start() > position:
                pieces.append(text[position : match.start()])
            whole, part = match.groups()
            pieces.append(Splice(self._slots[int(whole or part)], as_json_string=whole is not None))
            position = match.end()
        if position < len(text):
            pieces.append(text[position:])
        return pieces

    def _mark(self, part: str | Slot, end: str) -> str:
        if isinstance(part, str):
            return part
        self._slots.append(part)
        return f"{self._word}{len(self._slots) - 1}{end}"


def segmented_yaml(documents: Sequence[Document | dict[str, Tree]], *, leading_separator: bool) -> list[str | Splice]:
    """Emit documents as one YAML text, cut into literal pieces and slots.

    Documents are separated by an empty line and `---`, as Cluster API's providers have always written
    them; whether the first one has a separator too depends on the role of the machine.

    Raises:
        UnquotableTextError: template text cannot stand in YAML.
    """
    trees = [document.tree() if isinstance(document, Document) else document for document in documents]
    markers = _Markers(_unused_word(trees))
    marked = [markers.replace(tree) for tree in trees]
    text = "\n---\n".join(dump_yaml(tree) for tree in marked if isinstance(tree, dict))
    return markers.cut(f"---\n{text}" if leading_separator else text)


def _unused_word(trees: Sequence[Tree]) -> str:
    """Find a word without an overlap of its own that occurs in no text of the trees."""
    texts = [text for tree in trees for text in _texts(tree)]
    number = 0
    while any(f"splice{number}x" in text for text in texts):
        number += 1
    return f"splice{number}x"


def _texts(value: Tree) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, Spliced):
        yield from (part for part in value.parts if isinstance(part, str))
    elif isinstance(value, str):
        yield value


def _represent_marked(dumper: yaml.SafeDumper, text: _Marked) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style=text.quote)


represent(_Marked, _represent_marked)
