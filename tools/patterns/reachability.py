"""Reachable states and strongly connected components of a graph that is known by its next states alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

State = tuple[int, ...]
Key = TypeVar("Key")


def reach(start: Iterable[State], following: Callable[[State], Iterable[State]]) -> set[State]:
    """Give all states that are reached, those of the start too."""
    seen = set(start)
    waiting = list(seen)
    while waiting:
        for state in following(waiting.pop()):
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    return seen


def components(states: Iterable[State], following: Callable[[State], Iterable[State]]) -> dict[State, int]:
    """Number the strongly connected components, by Kosaraju's two walks, without recursion."""
    states = sorted(states)
    before: dict[State, list[State]] = {}
    order: list[State] = []
    seen: set[State] = set()
    for start in states:
        waiting = [(start, False)]
        while waiting:
            state, done = waiting.pop()
            if done:
                order.append(state)
            elif state not in seen:
                seen.add(state)
                waiting.append((state, True))
                for after in following(state):
                    before.setdefault(after, []).append(state)
                    waiting.append((after, False))
    groups: dict[State, int] = {}
    for number, start in enumerate(reversed(order)):
        if start not in groups:
            waiting_back = [start]
            while waiting_back:
                state = waiting_back.pop()
                if state not in groups:
                    groups[state] = number
                    waiting_back += before.get(state, [])
    return groups


def members(groups: dict[Key, int]) -> dict[int, set[Key]]:
    """Give the states of each component."""
    result: dict[int, set[Key]] = {}
    for state, group in groups.items():
        result.setdefault(group, set()).add(state)
    return result
