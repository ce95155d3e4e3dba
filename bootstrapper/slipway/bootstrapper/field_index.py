"""Finds what a field path lies in by a few look-ups, however many items there are.

A spec may hold thousands of items and as many of them may be wrong. To hold every path against every item is
a minute's work then; a path itself names all places that it can lie in.
"""

from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

from google.protobuf.message import Message

from slipway.contract.items import Item, items

T = TypeVar("T")


def enclosing(path: str) -> Sequence[str]:
    """Give the path, then every path that it lies in, the innermost first: those that items.within() is true of."""
    paths, at = [path], len(path)
    while (at := max(path.rfind(".", 1, at), path.rfind("[", 1, at))) > 0:
        paths.append(path[:at])
    return paths


def by_outer(entries: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    """Give things, named by their field paths, under every path that they lie in, their own among them."""
    groups: dict[str, list[T]] = {}
    for path, entry in entries:
        for outer in enclosing(path):
            groups.setdefault(outer, []).append(entry)
    return groups


class FieldIndex(Generic[T]):
    """Things by their field paths. Where two have the same path, the first counts."""

    def __init__(self, entries: Iterable[tuple[str, T]]) -> None:
        """Index pairs of field path and thing."""
        self._by_path: dict[str, T] = {}
        for path, entry in entries:
            self._by_path.setdefault(path, entry)

    def holder(self, path: str) -> T | None:
        """Give the innermost thing that the field path is, or lies in; None if it lies in nothing known."""
        return next((self._by_path[entry] for entry in enclosing(path) if entry in self._by_path), None)


def item_index(message: Message) -> FieldIndex[Item]:
    """Index the items of a message; as it is now, since paths of list entries change when others are taken out."""
    return FieldIndex((item.path, item) for item in items(message))
