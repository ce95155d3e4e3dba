"""Substitutions cut values by shell patterns; the pattern language is matched here, without backtracking.

`*` matches everything, also a slash; `?` one character; `[a-z]` and `[^a-z]` one of a class; a backslash
takes the next character as it is. A malformed pattern changes nothing, as in drone/envsubst, whose rules
these are.
"""

import re


def without_shortest_prefix(value: str, pattern: str) -> str:
    """Cut the shortest non-empty prefix that the pattern matches."""
    return _without_prefix(value, pattern, range(1, len(value) + 1))


def without_longest_prefix(value: str, pattern: str) -> str:
    """Cut the longest non-empty prefix that the pattern matches."""
    return _without_prefix(value, pattern, range(len(value), 0, -1))


def without_shortest_suffix(value: str, pattern: str) -> str:
    """Cut the shortest suffix; the pattern is read backwards, so that a class in it is malformed."""
    return without_shortest_prefix(value[::-1], pattern[::-1])[::-1]


def without_longest_suffix(value: str, pattern: str) -> str:
    """Cut the longest suffix; the pattern is read backwards, so that a class in it is malformed."""
    return without_longest_prefix(value[::-1], pattern[::-1])[::-1]


def _without_prefix(value: str, pattern: str, lengths: range) -> str:
    matcher = _compile(pattern)
    if matcher is not None:
        for length in lengths:
            if matcher.fullmatch(value, 0, length):
                return value[length:]
    return value


def _compile(pattern: str) -> re.Pattern[str] | None:
    """Translate to a regular expression that never backtracks into an earlier star, or None if malformed."""
    chunks = [""]
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "*":
            chunks.append("")
            position += 1
            continue
        term = _TERM.match(pattern, position)
        if term is None:
            return None
        chunks[-1] += _regular(term)
        position = term.end()
    first, *rest = chunks
    if not rest:
        return re.compile(first, re.DOTALL)
    *middle, last = rest
    stars = "".join(f"(?>.*?{chunk})" for chunk in middle)
    return re.compile(f"{first}{stars}.*{last}", re.DOTALL)


_TERM = re.compile(
    r"(?P<any>\?)|\\(?P<escaped>.)|\[(?P<not>\^?)(?P<ranges>(?:(?:\\.|[^\]\\-])(?:-(?:\\.|[^\]\\-]))?)+)\]"
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
    found: list[tuple[str, str]] = _RANGE.findall(ranges)
    return [(low, high) for low, high in found if not high or low <= high]
