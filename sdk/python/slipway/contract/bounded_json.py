"""JSON of strangers, counted before objects are made of it.

Five bytes of JSON become an object of more than two hundred, so that a text of a few megabytes takes all memory of a
small process, and holds the interpreter for seconds.
"""

import json
import re
from typing import Any

_INSIDE = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)
"""A text behind its first quote; one without an end goes to the end of all, so that no sign is looked at twice."""

_OPENERS = (b",", b"[", b"{")


class TooManyValuesError(ValueError):
    """A text has more values than its reader allows; the message says how many that is."""


def read_json(data: bytes, *, most_values: int) -> Any:
    """Give the value of a JSON text in UTF-8.

    Raises:
        TooManyValuesError: it has more than ``most_values`` values; counted in a time and a memory of the text's size.
        ValueError: it is not JSON, or is nested deeper than Python's own stack.
    """
    # Signs within texts count at first: that is fast, and nearly always enough.
    if _count(data, 0, len(data)) >= most_values and _has_more(data, most_values):
        raise TooManyValuesError(f"has more than {most_values} values")
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("is nested too deep") from None


def _has_more(data: bytes, most_values: int) -> bool:
    values, end = 1, 0
    while (quote := data.find(b'"', end)) >= 0:
        values += _count(data, end, quote)
        # Between two texts is at least one sign that counts, or a colon.
        if values > most_values:
            return True
        inside = _INSIDE.match(data, quote + 1)
        end = inside.end() + 1 if inside else len(data)
    return values + _count(data, end, len(data)) > most_values


def _count(data: bytes, start: int, end: int) -> int:
    return sum(data.count(sign, start, end) for sign in _OPENERS)
