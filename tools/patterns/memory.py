"""Whether a matcher keeps something for each round of a repeat: some hundred bytes for every character of a text.

Python's matcher remembers each round of a group that is repeated, in case it has to go back, and frees it at the end.
It does not for one character or one class, nor for a possessive repeat, which never goes back.
"""

from __future__ import annotations

import importlib
from typing import Any

_parser: Any = importlib.import_module("re._parser")

_ONE_CHARACTER = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
_MOST = 1000
"""Rounds that are remembered whatever the text is, and cost little."""


def keeps_rounds(pattern: str, flags: int) -> bool:
    """Say whether a pattern has a repeat, of any number of rounds, that is remembered round by round."""
    return any(_keeps(str(name), argument) for name, argument in _parser.parse(pattern, flags))


def _keeps(name: str, argument: Any) -> bool:
    match name:
        case "MAX_REPEAT" | "MIN_REPEAT":
            _, most, body = argument
            is_group = len(body) > 1 or str(body[0][0]) not in _ONE_CHARACTER
            return (is_group and most > _MOST) or _any(body)
        case "POSSESSIVE_REPEAT":
            return _any(argument[2])
        case "SUBPATTERN":
            return _any(argument[3])
        case "ATOMIC_GROUP":
            return _any(argument)
        case "BRANCH":
            return any(_any(branch) for branch in argument[1])
        case "ASSERT" | "ASSERT_NOT":
            return _any(argument[1])
    return False


def _any(items: Any) -> bool:
    return any(_keeps(str(name), argument) for name, argument in items)
