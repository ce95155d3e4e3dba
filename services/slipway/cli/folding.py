"""Many remarks of one cause as one line: thirty lines that differ in an index hide the one that does not."""

import re
from collections.abc import Iterable, Iterator

_MOST = 3
_MOST_PLACES = 8
_PLACE = re.compile(r":(\d{1,9}):\d{1,9}: ")
_INDEX = re.compile(r"\[\d{1,9}\]")


def folded(lines: Iterable[str]) -> Iterator[str]:
    """Give lines, with one in place of more than three that differ only in place and indexes.

    It is the first of them, with their number, and the lines of the file in which the others stand.
    """
    groups: dict[str, list[str]] = {}
    for line in lines:
        cause = _INDEX.sub("[]", _PLACE.sub(": ", line, count=1))
        groups.setdefault(cause, []).append(line)
    for group in groups.values():
        if len(group) <= _MOST:
            yield from group
        else:
            first, *others = group
            yield f"{first} ({len(others)} more of the same cause{_places(others)})"


def _places(lines: Iterable[str]) -> str:
    numbers = list(dict.fromkeys(match[1] for line in lines if (match := _PLACE.search(line))))
    if not numbers:
        return ""
    shown = ", ".join(numbers[:_MOST_PLACES])
    return f", in line {shown}" + (" ..." if len(numbers) > _MOST_PLACES else "")
