"""The words that the project does not use: words.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.words.fragments import NAMES, Fragment

FILE = "tools/words/words.toml"


@dataclass(frozen=True)
class Match:
    """A place where such a word stands."""

    kind: str
    line: int
    word: str
    instead: str


@dataclass(frozen=True)
class WordList:
    """Patterns with the words to use instead of them."""

    texts: tuple[tuple[re.Pattern[str], str], ...]
    names: tuple[tuple[re.Pattern[str], str], ...]

    def matches(self, fragment: Fragment) -> Iterator[Match]:
        """Yield every such word of the fragment, by its line; a name matches as a whole."""
        if fragment.kind == NAMES:
            instead = next((text for pattern, text in self.names if pattern.fullmatch(fragment.text)), None)
            if instead is not None:
                yield Match(fragment.kind, fragment.line, fragment.text, instead)
            return
        for pattern, instead in self.texts:
            for match in pattern.finditer(fragment.text):
                line = fragment.line + fragment.text.count("\n", 0, match.start())
                yield Match(fragment.kind, line, match.group(), instead)


def read(root: Path) -> WordList:
    """Read the list."""
    tables = tomllib.loads((root / FILE).read_text(encoding="utf-8"))
    texts, names = (
        tuple((re.compile(entry["pattern"]), entry["instead"]) for entry in tables[key]) for key in ("text", "name")
    )
    return WordList(texts, names)
