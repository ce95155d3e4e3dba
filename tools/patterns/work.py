"""The steps of a matcher that tries everything, counted: a second opinion on what is proven, and no clock in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tools.patterns.automaton import Automaton

_PUMPED = 6
"""Characters of a pattern that are tried in pairs; the first of each kind that it distinguishes."""


def steps(automaton: Automaton, text: str, *, searched: bool) -> int:
    """Count the steps until a text has matched nowhere, or until each match and the rest of the text are used up."""
    total, start = 0, 0
    while start < len(text):
        count, end = _attempt(automaton, text, start)
        total += count + 1
        if not searched:
            break
        start = max(end, start + 1)
    return total


def attacks(automaton: Automaton) -> Iterator[str]:
    """Give texts to repeat: one character of each kind that the pattern distinguishes, and pairs of them."""
    kinds: dict[tuple[bool, ...], str] = {}
    for character in automaton.alphabet:
        kinds.setdefault(tuple(character in accepted for accepted in automaton.accepts), character)
    characters = list(kinds.values())
    yield from characters
    for first in characters[:_PUMPED]:
        yield from (first + second for second in characters[:_PUMPED] if first != second)


def openings(automaton: Automaton) -> set[str]:
    """Give beginnings of a match that lead to each position, so that an attack gets behind what is fixed."""
    texts: dict[int, str] = {}
    waiting = [(position, "") for position in automaton.first]
    for position, before in waiting:
        if position not in texts and automaton.accepts[position]:
            texts[position] = before + min(automaton.accepts[position])
            waiting += [(following, texts[position]) for following in automaton.edges[position]]
    rounds = {position for position, following in enumerate(automaton.edges) if position in following}
    return {""} | {text for position, text in texts.items() if position in rounds}


def _attempt(automaton: Automaton, text: str, start: int) -> tuple[int, int]:
    """Count the ways of all lengths from one place, and give the end of the longest match."""
    ways, total, end = automaton.first, 0, start
    for index in range(start, len(text)):
        here = Counter({state: count for state, count in ways.items() if text[index] in automaton.accepts[state]})
        if not here:
            break
        total += sum(here.values())
        if not automaton.last.isdisjoint(here):
            end = index + 1
        ways = Counter()
        for state, count in here.items():
            for following, number in automaton.edges[state].items():
                ways[following] += count * number
    return total, end
