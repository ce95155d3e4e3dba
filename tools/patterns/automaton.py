"""An automaton of a regular expression's positions, with the number of ways from each to the next.

A backtracking matcher that ends in a failure tries every way through the pattern for every beginning of the text. This
is what it walks on: one state for each character of the pattern, one edge for each way between two of them. Where the
parse tree says less than the matcher knows (assertions, possessive repeats, large bounds), the automaton has more ways
than the matcher, so what is proven of it holds for the matcher.
"""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_parser: Any = importlib.import_module("re._parser")

_OTHERS = (0x0, 0x9, 0xA, 0x20, 0x2D, 0x30, 0x41, 0x5F, 0x61, 0x7B, 0x7D, 0x22, 0x2F, 0xE9, 0x2028)
_LAST_CHARACTER, _SURROGATES = 0x10FFFF, range(0xD800, 0xE000)
_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S", "CATEGORY_WORD": r"\w", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip
_LONGEST_ASSERTION = 300
"""Characters; what is looked at for each character of the text adds this factor, and no power."""
_SHORT = 4
_WAYS = 3
"""More ways between two positions than this are counted as this."""


class NotProvenError(Exception):
    """The pattern has a construct whose work is not known."""


@dataclass
class Automaton:
    """Positions 0, 1, 2 ...; `start` is what precedes all."""

    accepts: list[frozenset[str]] = field(default_factory=list)
    """The characters of each position."""
    edges: list[Counter[int]] = field(default_factory=list)
    """The ways from each position to each next one."""
    first: Counter[int] = field(default_factory=Counter)
    last: set[int] = field(default_factory=set)
    """Where a match may end without any further condition."""
    empty: bool = False
    """Whether it matches the empty text without any condition."""
    alphabet: str = ""
    """One character for each kind that the pattern distinguishes."""


def build(pattern: str, flags: int, longest: int, *, inside: bool = False) -> Automaton:
    """Give the automaton of a pattern.

    Args:
        pattern: its text.
        flags: as `re` has them.
        longest: a repeat of more times than this is one without an end.
        inside: it is tried behind the beginning of a text, where `^` does not match.
    """
    tree = _parser.parse(pattern, flags)
    return _Builder(_alphabet(tree), tree.state.flags, longest, inside=inside).build(tree)


def is_plain_loop(pattern: str, flags: int) -> bool:
    """Whether the whole pattern is one repeat of something short: at the end of each round it can end as a match."""
    tree = list(_parser.parse(pattern, flags))
    if len(tree) != 1 or str(tree[0][0]) not in {"MAX_REPEAT", "POSSESSIVE_REPEAT"}:
        return False
    least, _, body = tree[0][1]
    shortest, longest = body.getwidth()
    return bool(least <= 1 and shortest > 0 and longest <= _SHORT)


@dataclass(frozen=True)
class _Node:
    """A state between two characters; `conditional` edges may be closed."""

    ways: list[tuple[int, bool]] = field(default_factory=list)
    position: list[int] = field(default_factory=list)


class _Builder:
    def __init__(self, alphabet: str, flags: int, longest: int, *, inside: bool) -> None:
        self._alphabet, self._flags, self._longest, self._inside = alphabet, flags, longest, inside
        self._nodes: list[_Node] = []
        self._result = Automaton(alphabet=alphabet)
        self._after: list[int] = []

    def build(self, tree: Any) -> Automaton:
        start = self._node()
        end = self._sequence(tree, start)
        automaton = self._result
        automaton.first, automaton.empty = self._reached(start, end)
        for position, node in enumerate(self._after):
            following, ends = self._reached(node, end)
            automaton.edges.append(following)
            if ends:
                automaton.last.add(position)
        return automaton

    def _node(self) -> int:
        self._nodes.append(_Node())
        return len(self._nodes) - 1

    def _way(self, start: int, end: int, *, conditional: bool = False) -> None:
        self._nodes[start].ways.append((end, conditional))

    def _reached(self, start: int, end: int) -> tuple[Counter[int], bool]:
        """Count the ways to each next position, and say whether the end is reached unconditionally."""
        ways: Counter[int] = Counter()
        ends = False

        def walk(node: int, seen: frozenset[int], *, conditional: bool) -> None:
            nonlocal ends
            ends = ends or (node == end and not conditional)
            for position in self._nodes[node].position:
                ways[position] = min(ways[position] + 1, _WAYS)
            for following, closed in self._nodes[node].ways:
                if following in seen:
                    raise NotProvenError("a repeat of what may be empty")
                walk(following, seen | {following}, conditional=conditional or closed)

        walk(start, frozenset([start]), conditional=False)
        return ways, ends

    def _sequence(self, items: Any, start: int) -> int:
        for item, argument in items:
            start = self._item(str(item), argument, start)
        return start

    def _item(self, name: str, argument: Any, start: int) -> int:
        match name:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                return self._character(name, argument, start)
            case "SUBPATTERN" | "ATOMIC_GROUP":
                return self._sequence(argument[3] if name == "SUBPATTERN" else argument, start)
            case "BRANCH":
                end = self._node()
                for branch in argument[1]:
                    self._way(self._sequence(branch, start), end)
                return end
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, body = argument
                return self._repeat(least, most, body, start)
            case "AT":
                closed = self._inside and self._is_beginning(str(argument))
                return self._node() if closed else self._condition(start)
            case "ASSERT" | "ASSERT_NOT":
                if argument[1].getwidth()[1] > _LONGEST_ASSERTION:
                    raise NotProvenError("an assertion of unbounded length")
                return self._condition(start)
        raise NotProvenError(f"{name.lower()} in the pattern")

    def _is_beginning(self, place: str) -> bool:
        return place == "AT_BEGINNING_STRING" or (place == "AT_BEGINNING" and not self._flags & re.MULTILINE)

    def _condition(self, start: int) -> int:
        end = self._node()
        self._way(start, end, conditional=True)
        return end

    def _character(self, name: str, argument: Any, start: int) -> int:
        accepted = frozenset(c for c in self._alphabet if _matches(name, argument, c, self._flags))
        self._result.accepts.append(accepted)
        self._nodes[start].position.append(len(self._result.accepts) - 1)
        self._after.append(self._node())
        return self._after[-1]

    def _repeat(self, least: int, most: Any, body: Any, start: int) -> int:
        endless = most == _parser.MAXREPEAT or most > self._longest
        copies = least if endless else most
        copies = min(copies, self._longest)
        end = self._node()
        for number in range(copies):
            if number >= least:
                self._way(start, end)
            entry = self._node()
            self._way(start, entry)
            start = self._sequence(body, entry)
        if endless:
            loop = self._node()
            self._way(start, loop)
            self._way(self._sequence(body, loop), loop)
            start = loop
        self._way(start, end)
        return end


def _matches(name: str, argument: Any, character: str, flags: int) -> bool:
    forms = {character, character.lower(), character.upper()} if flags & re.IGNORECASE else {character}
    codes = {ord(form) for form in forms if len(form) == 1}
    match name:
        case "LITERAL":
            return argument in codes
        case "NOT_LITERAL":
            return argument not in codes
        case "ANY":
            return character != "\n" or bool(flags & re.DOTALL)
    items = list(argument)
    negated = bool(items) and str(items[0][0]) == "NEGATE"
    return negated != any(_member(str(kind), value, codes, character, flags) for kind, value in items[negated:])


def _member(kind: str, value: Any, codes: set[int], character: str, flags: int) -> bool:
    match kind:
        case "LITERAL":
            return value in codes
        case "RANGE":
            return any(value[0] <= code <= value[1] for code in codes)
        case "CATEGORY":
            return re.match(_CATEGORIES[str(value)], character, flags & re.ASCII) is not None
    raise NotProvenError(f"{kind.lower()} in a character class")


def _alphabet(tree: Any) -> str:
    codes = set(_OTHERS)
    for code in _codes(tree):
        codes |= {code - 1, code, code + 1}
    return "".join(chr(code) for code in sorted(codes) if 0 <= code <= _LAST_CHARACTER and code not in _SURROGATES)


def _codes(items: Any) -> Iterator[int]:
    for item, argument in items:
        name = str(item)
        if name in {"LITERAL", "NOT_LITERAL"}:
            yield argument
        elif name == "RANGE":
            yield from argument
        elif name == "IN":
            yield from _codes(argument)
        else:
            for inner in _inner(argument):
                yield from _codes(inner)


def _inner(argument: Any) -> Iterator[Any]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, Sequence) and not isinstance(argument, str):
        for part in argument:
            yield from _inner(part)
