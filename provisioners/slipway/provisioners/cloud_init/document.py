"""The cloud-config document: a tree of values, emitted by a real YAML emitter.

It feeds libyaml with events, because that is twice as fast as its object interface and this is the hot path
of every render. Jinja is a second language on top: cloud-init renders the whole document before it parses
it, so where a template is, everything else has to be protected from it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import yaml

from slipway.provisioners.cloud_init.jinja import contained

HEADER = b"#cloud-config\n"
JINJA_HEADER = b"## template: jinja\n"

_NO_FOLDING = 1 << 30
# A scalar that starts like this is a string in YAML 1.1 unless it is one of the words.
_STARTS_PLAIN = re.compile(r"[A-Za-z/]")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_PEM = "-----BEGIN "
_BLANK = re.compile(r"\s")
PRINTABLE = r"\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd"
UNSAFE = re.compile(rf"[^\t\n{PRINTABLE}\U00010000-\U0010ffff]")
"""What YAML cannot hold as it is, or what a reader on the way may change: it is escaped, in double quotes."""
_DELIMITERS = re.compile(r"\{\{|\{%|\{#")
_LARGE = re.compile(rf"[^{PRINTABLE}]")
"""What the emitter writes in quotes only, and a block can hold as well: tabs and characters of four bytes."""


@dataclass(frozen=True, slots=True)
class Template:
    """A piece of text that Jinja renders on the machine."""

    text: str


@dataclass(frozen=True, slots=True)
class Templated:
    """A text of which some pieces are templates.

    It is a block, since what a template gives must not meet any quoting. `quoted`: a block cannot hold its characters.
    """

    pieces: tuple[str | Template, ...]
    quoted: bool = False


class Name(str):
    """A key that Jinja renders on the machine."""

    __slots__ = ()


Value = str | int | bool | Templated | Sequence["Value"] | Mapping[str, "Value"]


def emit(document: Mapping[str, Value]) -> bytes:
    """Give the document as cloud-init reads it.

    Raises:
        AssertionError: what was emitted does not parse back to the same values: a defect.
    """
    for number in count():
        stream = _Stream(f"x{number}slipway")
        stream.put(document)
        events = [*_START, *stream.events, *_END]
        text: str = yaml.emit(events, Dumper=yaml.CSafeDumper, width=_NO_FOLDING, allow_unicode=True)
        # A placeholder must not be mistaken for text of the user's.
        if text.count(stream.marker) == len(stream.templates):
            break
    if _meanings(iter(yaml.CSafeLoader(text).get_event, None)) != _meanings(events):
        raise AssertionError("the emitted YAML does not parse back to what was put in")
    if not stream.templates:
        return HEADER + text.encode()
    # Jinja drops the last line break: without the comment that could be one of a value.
    return JINJA_HEADER + HEADER + _with_templates(text, stream.marker, stream.templates).encode() + b"#\n"


def _meanings(events: Iterable[Any]) -> list[Any]:
    scalar = yaml.ScalarEvent
    return [event.value if type(event) is scalar else type(event) for event in events]


def _with_templates(text: str, marker: str, templates: Sequence[str]) -> str:
    """Protect the emitted YAML from Jinja, then put the templates where they belong."""
    pieces = re.split(rf"{marker}(\d+)x", text)
    for index, piece in enumerate(pieces):
        if index % 2:
            pieces[index] = templates[int(piece)]
            continue
        protected = _DELIMITERS.sub(lambda match: "{{ '" + match[0] + "' }}", piece)
        if protected.endswith("{") and index + 1 < len(pieces):
            protected = protected[:-1] + "{{ '{' }}"
        pieces[index] = protected
    return "".join(pieces)


class _Stream:
    """The events of a document; what templates there are is put aside, a word for each line in its place."""

    def __init__(self, marker: str) -> None:
        self.marker = marker
        self.templates: list[str] = []
        self.events: list[yaml.Event] = []

    def put(self, value: Value) -> None:
        """Add the events of a value."""
        if isinstance(value, str):
            self.events.append(_text(value))
        elif isinstance(value, int):
            self.events.append(_scalar(str(value).lower()))
        elif isinstance(value, Templated):
            text = "".join(self._quoted(value.pieces) if value.quoted else self._block(value.pieces))
            self.events.append(_scalar(text, '"' if value.quoted else "|"))
        elif isinstance(value, Mapping):
            self.events.append(_MAPPING)
            for key, entry in value.items():
                self.events.append(_scalar(self._place_line(key)) if isinstance(key, Name) else _text(key))
                self.put(entry)
            self.events.append(_MAPPING_END)
        else:
            # Lists of words stand in one line; command lines stay as they are, for people and whoever searches.
            short = all(isinstance(entry, str | int) and not _BLANK.search(str(entry)) for entry in value)
            self.events.append(_ROW if short else _LIST)
            for entry in value:
                self.put(entry)
            self.events.append(_LIST_END)

    def _quoted(self, pieces: Sequence[str | Template]) -> Iterator[str]:
        for piece in pieces:
            yield piece if isinstance(piece, str) else self._place(piece)

    def _block(self, pieces: Sequence[str | Template]) -> Iterator[str]:
        for index, piece in enumerate(pieces):
            if isinstance(piece, str):
                *lines, last = piece.split("\n")
                yield "".join(f"{self._line(line, ends=True)}\n" for line in lines)
                yield self._line(last, ends=index + 1 == len(pieces))
            else:
                yield self._place(piece)

    def _place(self, piece: Template) -> str:
        return "\n".join(map(self._place_line, contained(piece.text).split("\n")))

    def _line(self, line: str, *, ends: bool) -> str:
        """Put aside the text of a line that the emitter would take for a reason to quote the whole."""
        if not _LARGE.search(line) and not (ends and line.endswith(" ")):
            return line
        word = line.lstrip(" ")
        self.templates.append((word or line).replace("{", "{{ '{' }}"))
        return f"{line[: -len(word)] if word else ''}{self.marker}{len(self.templates) - 1}x"

    def _place_line(self, line: str) -> str:
        # The emitter must see blanks at the start, for they decide how a block is indented.
        word = line.lstrip(" ")
        if not word:
            return line
        self.templates.append(word)
        return f"{line[: -len(word)]}{self.marker}{len(self.templates) - 1}x"


def _text(text: str) -> yaml.Event:
    if UNSAFE.search(text):
        return _scalar(text, '"')
    if text.startswith(_PEM):
        # Nobody reads it, and a block would cost four blanks for each of its many lines.
        return _scalar(text, '"')
    if "\n" in text:
        return _scalar(text, "|")
    plain = _STARTS_PLAIN.match(text) and text.lower() not in _WORDS
    return _scalar(text, None if plain else "'")


def _scalar(text: str, style: str | None = None) -> yaml.Event:
    return yaml.ScalarEvent(None, None, (True, True), text, style=style)


_START = (yaml.StreamStartEvent(), yaml.DocumentStartEvent(explicit=False))
_END = (yaml.DocumentEndEvent(explicit=False), yaml.StreamEndEvent())
_MAPPING = yaml.MappingStartEvent(None, None, True, flow_style=False)
_MAPPING_END = yaml.MappingEndEvent()
_LIST = yaml.SequenceStartEvent(None, None, True, flow_style=False)
_ROW = yaml.SequenceStartEvent(None, None, True, flow_style=True)
_LIST_END = yaml.SequenceEndEvent()
