"""Reports where something is wrong in a person's document: file, line, column, field path.

The words for that stand here, apart from any reader, so that the YAML loader, the substitution of variables,
the spec codec and the importers complain in the same form. A message never holds a value of the document.
"""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

UNKNOWN_FIELD = "UNKNOWN_FIELD"
"""Code of a field that does not exist and resembles none that does."""

FieldPath = tuple[str | int, ...]
"""Keys and list indices from the root of a document."""

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_PLAIN_WORD = re.compile(r"[a-z]+(?:[ ,;]|$)")
_LONGEST_KEY = 64
_MOST_SHOWN = 50
_MOST_NAMED = 24


@dataclass(frozen=True, order=True, slots=True)
class Position:
    """A place in a file, both numbers counted from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class SourceProblem:
    """One thing that is wrong, and where.

    Attributes:
        file: name of the file as the user gave it.
        position: the place, or None when only the file is known.
        path: field path in text form; "" for the document as a whole.
        message: what is wrong and what to do, without any value.
        code: what is wrong, for programs; "" where no program asks.
    """

    file: str
    position: Position | None
    path: str
    message: str
    code: str = field(default="", compare=False)

    def __str__(self) -> str:
        """Give `file:line:column: path: message`, as compilers do."""
        place = f"{self.file}:{self.position.line}:{self.position.column}" if self.position else self.file
        return ": ".join(part for part in (place, self.path, self.message) if part)


class SourceError(ValueError):
    """A document cannot be read or does not fit its schema; `problems` holds everything that was found."""

    def __init__(self, problems: Iterable[SourceProblem]) -> None:
        """Collect the problems, at least one."""
        self.problems: tuple[SourceProblem, ...] = tuple(problems)
        if not self.problems:
            raise AssertionError("a SourceError needs a problem")
        super().__init__(_text(self.problems))


def path_text(path: FieldPath) -> str:
    """Write a path as Kubernetes does: `spec.files[0].path`, `metadata.labels[example.com/a]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_KEY.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{shown_key(part)}]"
    return text


def shown_key(key: str) -> str:
    """Give a key fit for a message: one line, no control characters, not endless."""
    clean = "".join(character if character.isprintable() else "?" for character in key)
    return clean if len(clean) <= _LONGEST_KEY else clean[:_LONGEST_KEY] + "..."


def did_you_mean(word: str, candidates: Iterable[str]) -> str | None:
    """Give the candidate that a person who wrote `word` most likely meant, or None."""
    if len(word) > _LONGEST_KEY:
        return None
    known = sorted(set(candidates))
    folded = {candidate.casefold(): candidate for candidate in known}
    if word.casefold() in folded:
        return folded[word.casefold()]
    close = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def unknown_field(word: str, candidates: Iterable[str]) -> str:
    """Give the message for a field that does not exist: with the one that was meant, else with those that there are."""
    known = list(candidates)
    meant = did_you_mean(word, known)
    if meant:
        return f"unknown field; did you mean {meant}?"
    rest = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    return f"unknown field; allowed: {', '.join(known[:_MOST_NAMED])}{rest}" if known else "unknown field"


def with_remedy(reason: str, remedy: str) -> str:
    """Say what is wrong, and what to do in a sentence of its own; a name that begins it stays as it is spelt."""
    if not remedy:
        return reason
    plain = _PLAIN_WORD.match(remedy)
    return f"{reason}. {remedy[0].upper()}{remedy[1:]}" if plain else f"{reason}. {remedy}"


def _text(problems: Sequence[SourceProblem]) -> str:
    shown = [str(problem) for problem in problems[:_MOST_SHOWN]]
    if len(problems) > _MOST_SHOWN:
        shown.append(f"... and {len(problems) - _MOST_SHOWN} more")
    return "\n".join(shown)
