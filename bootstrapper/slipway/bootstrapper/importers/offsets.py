"""Text that was made from other text has to say where its characters came from.

Substitution changes the length of lines and, with values of several lines, their number; an error must still
name the place in the file that the user has open.
"""

import re
from array import array
from bisect import bisect_right

from slipway.contract.source_position import Position


class Lines:
    """Converts between offsets and positions of one text."""

    def __init__(self, text: str) -> None:
        """Note where the lines start."""
        self._starts = array("I", [0])
        self._starts.extend(match.end() for match in re.finditer(r"\n", text))
        self._starts.append(len(text) + 1)

    def position(self, offset: int) -> Position:
        """Give the place of an offset."""
        line = bisect_right(self._starts, offset) - 1
        return Position(line + 1, offset - self._starts[line] + 1)

    def offset(self, position: Position) -> int:
        """Give the offset of a place."""
        return self._starts[min(position.line, len(self._starts)) - 1] + position.column - 1


class OffsetMap:
    """Maps offsets of a new text to offsets of the old one, piece by piece."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.parts: list[str] = []
        self._length = 0
        self._new: list[int] = []
        self._old: list[tuple[int, bool]] = []

    def copied(self, text: str, old: int) -> None:
        """Add text that stands in the old text at this offset."""
        self._add(text, old, moves=True)

    def inserted(self, text: str, old: int) -> None:
        """Add text that as a whole stands for the place at this offset."""
        self._add(text, old, moves=False)

    def text(self) -> str:
        """Give the new text."""
        return "".join(self.parts)

    def old(self, new: int) -> int:
        """Give the offset in the old text."""
        index = bisect_right(self._new, new) - 1
        if index < 0:
            return 0
        start, moves = self._old[index]
        return start + (new - self._new[index] if moves else 0)

    def _add(self, text: str, old: int, *, moves: bool) -> None:
        if text:
            self.parts.append(text)
            self._new.append(self._length)
            self._old.append((old, moves))
            self._length += len(text)
