"""How results look: tables for people, JSON and YAML for programs; colours only on a terminal.

Everything that the commands print goes through here, since a reader may go away in the middle (`| head`), a stream may
be closed, a terminal may know fewer characters than a name has, and a text from elsewhere must not steer the terminal.
"""

import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

import click
from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from slipway.contract.control_characters import escape_controls
from slipway.contract.yaml_encode import dump

OUTPUTS = ("table", "json", "yaml")
WIDTH_WITHOUT_TERMINAL = 160
_WIDEST = 1000
_STYLES = {
    "rendered": "green", "native": "green", "ready": "green", "valid": "green", "yes": "green", "added": "green",
    "lowered": "yellow", "omitted": "yellow", "warning": "yellow", "draining": "yellow", "gzip": "yellow",
    "changed": "yellow",
    "refused": "red", "failed": "red", "expired": "red", "not-ready": "red", "invalid": "red", "no": "red",
    "removed": "red",
}  # fmt: skip
_NOTE_STYLES = {"note": "cyan", "warning": "yellow", "refused": "red", "failed": "red", "invalid": "red"}
_RIGHT = frozenset({"bytes", "gzip", "ms", "limit", "features", "pid"})

_MOST_ALIKE = 3
_MOST_PLACES = 8
_PLACE = re.compile(r":(\d{1,9}):\d{1,9}: ")
_INDEX = re.compile(r"\[\d{1,9}\]")


def style_of(word: str) -> str:
    """Give the style of a word that is a verdict, or ""."""
    return _STYLES.get(word.split(" ", maxsplit=1)[0], "")


def console() -> Console:
    """Give a console: colours and real width on a terminal, plain and wide anywhere else."""
    if sys.stdout is not None and sys.stdout.isatty():
        return Console(highlight=False)
    return Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL, no_color=True, file=sys.stdout or io.StringIO())


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Make a table; words that are a verdict get its colour."""
    made = Table(title=title or None, title_justify="left", title_style="bold", header_style="dim", box=box.SIMPLE_HEAD)
    for column in columns:
        right = column in _RIGHT
        made.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for row in rows:
        made.add_row(*(Text(escape_controls(cell), style=style_of(cell)) for cell in row))
    return made


def show(*made: Any) -> None:
    """Print tables and texts on standard output; no word is broken, and a line may be longer than a narrow screen."""
    screen = console()
    width = screen.width
    with screen.capture() as captured:
        for entry in made:
            screen.width = max(width, screen.measure(entry, options=screen.options.update_width(_WIDEST)).minimum)
            screen.print(_Escaped(entry))
    _write(sys.stdout, "\n".join(line.rstrip() for line in captured.get().split("\n")))


class _Escaped:
    """What is shown, with its own colours and without any sequence that one of its texts holds."""

    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._shown, options):
            yield Segment(escape_controls(segment.text), segment.style, segment.control)


def emit(tree: Any, output: str) -> None:
    """Print plain data as JSON or YAML."""
    say(json.dumps(tree, indent=2, ensure_ascii=False) if output == "json" else dump(tree).rstrip("\n"))


def say(*lines: str) -> None:
    """Print lines on standard output, without any control character. JSON and what `dump` gives mean the same so."""
    _write(sys.stdout, "".join(f"{escape_controls(line)}\n" for line in lines))


def say_bytes(data: bytes) -> None:
    """Print bytes on standard output: as they are to a file or another program, as text to a terminal."""
    if sys.stdout is None:
        return
    if sys.stdout.isatty():
        say(data.decode(errors="backslashreplace").removesuffix("\n"))
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _forget(sys.stdout)


def note(text: str, kind: str = "") -> None:
    """Print a remark on standard error; `kind` is "note", "warning", "refused", "failed" or "invalid"."""
    stream = sys.stderr
    colours = stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")
    head = click.style(f"{kind}: ", fg=_NOTE_STYLES[kind]) if colours and kind else f"{kind}: " if kind else ""
    _write(stream, f"{head}{escape_controls(text)}\n")


def _write(stream: TextIO | None, text: str) -> None:
    """Write to a stream; what a reader that went away does not take is forgotten, and is no failure."""
    if stream is None:
        return
    try:
        try:
            stream.write(text)
        except UnicodeEncodeError:
            encoding = stream.encoding or "ascii"
            stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        _forget(stream)


def _forget(stream: TextIO) -> None:
    """Lead a stream whose reader went away to nowhere, so that nothing fails when the process ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def folded(lines: Iterable[str]) -> Iterator[str]:
    """Give lines, with one in place of more than three that differ only in place and indexes.

    It is the first of them, with their number, and the lines of the file in which the others stand: thirty lines that
    differ in an index hide the one that does not.
    """
    groups: dict[str, list[str]] = {}
    for line in lines:
        cause = _INDEX.sub("[]", _PLACE.sub(": ", line, count=1))
        groups.setdefault(cause, []).append(line)
    for group in groups.values():
        if len(group) <= _MOST_ALIKE:
            yield from group
        else:
            first, *others = group
            yield f"{first} ({len(others)} more of the same cause{_places(others)})"


def _places(lines: Iterable[str]) -> str:
    numbers = list(dict.fromkeys(match[1] for line in lines if (match := _PLACE.search(line))))
    if not numbers:
        return ""
    shown = ", ".join(numbers[:_MOST_PLACES])
    return f", in line {shown}" + (" ..." if len(numbers) > _MOST_PLACES else "")
