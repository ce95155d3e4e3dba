"""Substitutions cut values by shell patterns; the pattern language is matched here, without backtracking.

`*` matches everything, also a slash; `?` one character; `[a-z]` and `[^a-z]` one of a class; a backslash
takes the next character as it is. A malformed pattern changes nothing, as in drone/envsubst, whose rules
these are.
"""

import re
from collections.abc import Iterator, Sequence


def without_shortest_prefix(value: str, pattern: str) -> str:
    """Cut the shortest non-empty prefix that the pattern matches."""
    return _without_prefix(value, pattern, longest=False)


def without_longest_prefix(value: str, pattern: str) -> str:
    """Cut the longest non-empty prefix that the pattern matches."""
    return _without_prefix(value, pattern, longest=True)


def without_shortest_suffix(value: str, pattern: str) -> str:
    """Cut the shortest suffix; the pattern is read backwards, so that a class in it is malformed."""
    return without_shortest_prefix(value[::-1], pattern[::-1])[::-1]


def without_longest_suffix(value: str, pattern: str) -> str:
    """Cut the longest suffix; the pattern is read backwards, so that a class in it is malformed."""
    return without_longest_prefix(value[::-1], pattern[::-1])[::-1]


def _without_prefix(value: str, pattern: str, *, longest: bool) -> str:
    characters = _characters(pattern)
    lengths = _Matcher(characters).lengths(value) if characters is not None else iter(())
    length = max(lengths, default=0) if longest else next(lengths, 0)
    return value[length:]


class _Matcher:
    """All places of a pattern at once, as the bits of a number: one step for each character of the value."""

    def __init__(self, characters: Sequence[re.Pattern[str] | None]) -> None:
        self._characters = characters
        self._stars = sum(1 << place for place, term in enumerate(characters) if term is None)
        self._steps: dict[str, int] = {}

    def lengths(self, value: str) -> Iterator[int]:
        """Give the lengths of the non-empty prefixes that match, the shortest first."""
        end = 1 << len(self._characters)
        places = self._past_stars(1)
        for length, character in enumerate(value, start=1):
            places = self._past_stars((places & self._step(character)) << 1 | places & self._stars)
            if places & end:
                yield length
            if not places:
                return

    def _past_stars(self, places: int) -> int:
        # Two stars never stand side by side.
        return places | (places & self._stars) << 1

    def _step(self, character: str) -> int:
        if character not in self._steps:
            self._steps[character] = sum(
                1 << place
                for place, term in enumerate(self._characters)
                if term is not None and term.fullmatch(character)
            )
        return self._steps[character]


def _characters(pattern: str) -> list[re.Pattern[str] | None] | None:
    """Give an expression for each character of a match, None for a star; None if the pattern is malformed."""
    characters: list[re.Pattern[str] | None] = []
    position = 0
    while position < len(pattern):
        if pattern[position] == "*":
            position += 1
            if not characters or characters[-1] is not None:
                characters.append(None)
            continue
        term = _TERM.match(pattern, position)
        if term is None:
            return None
        characters.append(re.compile(_regular(term), re.DOTALL))
        position = term.end()
    return characters


_TERM = re.compile(
    r"(?P<any>\?)|\\(?P<escaped>.)|\[(?P<not>\^?)(?P<ranges>(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)++)\]"
    r"|(?P<plain>[^\[\\])",
    re.DOTALL,
)
_RANGE = re.compile(r"\\?(.)(?:-\\?(.))?", re.DOTALL)


def _regular(term: re.Match[str]) -> str:
    if term["any"]:
        return "."
    if term["ranges"]:
        ranges = (re.escape(low) + (f"-{re.escape(high)}" if high else "") for low, high in _pairs(term["ranges"]))
        inside = "".join(ranges)
        if not inside:
            return "." if term["not"] else "(?!)"
        return f"[{term['not']}{inside}]"
    return re.escape(term["escaped"] or term["plain"])


def _pairs(ranges: str) -> list[tuple[str, str]]:
    # A range that ends before it starts matches nothing.
    pairs: list[tuple[str, str]] = _RANGE.findall(ranges)
    return [(low, high) for low, high in pairs if not high or low <= high]
