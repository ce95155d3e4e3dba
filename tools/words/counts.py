"""How many such words each area of the tree holds, and how many it may hold: remaining.toml."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tools import repository
from tools.words.fragments import KINDS, PROSE, STRINGS, fragments
from tools.words.word_list import Match, WordList

FILE = "tools/words/remaining.toml"
# An area ends where a longer one begins; what is in none of them is in the area of its first folder.
_AREAS = (
    "services/slipway/cli", "services/slipway/conformance", "services/slipway/controller", "services/slipway/diagnosis",
    "services/slipway/kubernetes_api",
)  # fmt: skip
# The list itself; programs' output that is kept; what is made from other sources; words that a test gives to a program.
_LEFT_OUT = ("tools/words/", "tests/tools/words/", "docs/conformance/", "constraints.txt")
_GENERATED = ("deploy/kubernetes/crd/", "sdk/go/slipway/", "sdk/python/slipway/contract/errors.py")

Counts = Mapping[tuple[str, str], int]


def area(path: str) -> str:
    """Give the area that a file belongs to."""
    for prefix in _AREAS:
        if path.startswith(f"{prefix}/"):
            return prefix
    return path.split("/", maxsplit=1)[0]


def places(root: Path, words: WordList) -> Iterator[tuple[str, Match]]:
    """Yield every such word with the file where it stands."""
    for path in repository.files(root):
        if (root / path).is_symlink() or path.startswith((*_LEFT_OUT, *_GENERATED)):
            continue
        if path.endswith((".go", ".md", ".proto", ".py", ".toml", ".yaml")):
            for fragment in fragments(path, (root / path).read_text(encoding="utf-8")):
                if not _is_input(path, fragment.kind):
                    yield from ((path, match) for match in words.matches(fragment))


def count(where: Iterable[tuple[str, Match]]) -> Counter[tuple[str, str]]:
    """Count by kind and area."""
    return Counter((match.kind, area(path)) for path, match in where)


def read(root: Path) -> dict[tuple[str, str], int]:
    """Read what each area may hold."""
    tables = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    return {(kind, name): number for kind, table in tables.items() for name, number in table.items()}


def render(counts: Counts) -> str:
    """Give the text of the file."""
    lines = ["# Words of words.toml that remain, by kind and area: `python -m tools.words lower` writes this file."]
    for kind in KINDS:
        lines += ["", f"[{kind}]"]
        lines += [f'"{name}" = {number}' for (of, name), number in sorted(counts.items()) if of == kind and number]
    return "\n".join(lines) + "\n"


def problems(counts: Counts, allowed: Counts) -> Iterator[str]:
    """Yield every difference: a count may neither rise, nor stay in the file when it became lower."""
    for key in sorted({*counts, *allowed}):
        now, before = counts.get(key, 0), allowed.get(key, 0)
        if now > before:
            yield f"{key[0]} of {key[1]}: {now}, but at most {before}: see `python -m tools.words list {key[1]}`"
        elif now < before:
            yield f"{key[0]} of {key[1]}: {now}, no longer {before}: run `python -m tools.words lower`"


def _is_input(path: str, kind: str) -> bool:
    """Whether a text is what a test gives to a program or expects of it: no words of ours."""
    return path.startswith("tests/") and kind in {PROSE, STRINGS}
