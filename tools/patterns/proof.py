"""Whether a matcher's work with a pattern grows in proportion to the text, for every text.

Two things make it grow faster. *Ambiguity*: a text can go round in one place of the pattern, go round in a later one,
and pass from the first to the second; the matcher then tries every place for the passage, which is the square of the
text (Weber and Seidl, 1991: the degree of ambiguity of a finite automaton is finite exactly if no such text and no text
with two rounds in one place exists). *Search*: without an anchor each place of the text is tried, and each try can go
round to the end of the text before it fails; that is ambiguity as well, of the pattern with a loop in front. A try that
can end as a match wherever it goes round does not fail there, and what it matched is not tried any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tools.patterns.automaton import Automaton, NotProvenError, build, is_plain_loop
from tools.patterns.reachability import State, components, members, reach

_EXPANDED = (4, 64)
"""Repeats of up to so many times are written out; those of more are first taken for endless, which costs less."""
_POSITIONS = 400


def reason_not_linear(pattern: str, flags: int, *, searched: bool, whole: bool) -> str:
    """Say why a pattern is not known to be linear, or nothing when it is.

    Args:
        pattern: its text.
        flags: as `re` has them.
        searched: it is tried at other places than the beginning of a text.
        whole: it is to match a text to its end.
    """
    reason = ""
    for longest in _EXPANDED:
        try:
            reason = _reason(build(pattern, flags, longest), searched=False, whole=True) if whole else ""
            if not reason and not is_plain_loop(pattern, flags):
                reason = _reason(build(pattern, flags, longest), searched=False, whole=False)
                if not reason and searched:
                    reason = _reason(build(pattern, flags, longest, inside=True), searched=True, whole=False)
        except NotProvenError as error:
            return str(error)
        if not reason:
            return ""
    return reason


def _reason(automaton: Automaton, *, searched: bool, whole: bool) -> str:
    if len(automaton.accepts) > _POSITIONS:
        raise NotProvenError("too many positions")
    edges = [Counter(following) for following in automaton.edges]
    accepts = list(automaton.accepts)
    search = len(edges)
    if searched:
        edges.append(Counter(automaton.first) + Counter([search]))
        accepts.append(frozenset(automaton.alphabet))
    graph = _Graph(edges, accepts)
    ends = {state for state in graph.cyclic if not whole and graph.round(state) <= automaton.last}
    reason = graph.two_rounds(graph.cyclic - ends)
    if reason:
        return reason
    for first in sorted(graph.cyclic):
        for second in sorted((graph.cyclic & graph.reached[first]) - ends - {first}):
            if graph.has_passage(first, second):
                what = "searched without an anchor" if first == search else "ambiguous"
                return f"{what}: a text goes round at position {first} and at position {second}"
    return ""


class _Graph:
    """The positions as a graph, each edge with the characters of the position that it leads to."""

    def __init__(self, edges: list[Counter[int]], accepts: list[frozenset[str]]) -> None:
        self._edges, self._accepts = edges, accepts
        states = [(state,) for state in range(len(edges))]
        self._component = {state: group for (state,), group in components(states, self._following).items()}
        self._members = members(self._component)
        self.cyclic = {state for (state,) in states if len(self.round(state)) > 1 or edges[state][state]}
        self.reached = {
            state: {after for (after,) in reach([(first,) for first in edges[state]], self._following)}
            for (state,) in states
        }

    def round(self, state: int) -> set[int]:
        """Give the positions that one can go round with this one."""
        return self._members[self._component[state]]

    def two_rounds(self, states: set[int]) -> str:
        """Look for a place with two ways round for one text: pairs of states that come back to the same state."""
        for state in sorted(states):
            for following, ways in self._edges[state].items():
                if ways > 1 and following in self.round(state):
                    return f"exponential: two ways from position {state} to position {following}"
        groups = components(reach([(state, state) for state in states], self._pairs), self._pairs)
        inside = members(groups)
        for state in sorted(states):
            apart = [pair for pair in inside[groups[state, state]] if pair[0] != pair[1]]
            if apart:
                return f"exponential: two ways round through positions {min(apart)[0]} and {min(apart)[1]}"
        return ""

    def has_passage(self, first: int, second: int) -> bool:
        """Whether one text goes from first to first, from first to second, and from second to second."""
        stays, goes = self.round(first), self.round(second)
        between = {state for state in self.reached[first] if state == second or second in self.reached[state]}

        def triples(triple: State) -> Iterable[State]:
            for before in stays & self._edges[triple[0]].keys():
                for middle in between & self._edges[triple[1]].keys():
                    shared = self._accepts[before] & self._accepts[middle]
                    for right in goes & self._edges[triple[2]].keys():
                        if shared & self._accepts[right]:
                            yield (before, middle, right)

        return (first, second, second) in reach([(first, first, second)], triples)

    def _following(self, state: State) -> Iterable[State]:
        return [(following,) for following in self._edges[state[0]]]

    def _pairs(self, pair: State) -> Iterable[State]:
        stays = self.round(pair[0])
        for before in stays & self._edges[pair[0]].keys():
            for right in stays & self._edges[pair[1]].keys():
                if self._accepts[before] & self._accepts[right]:
                    yield (before, right)
