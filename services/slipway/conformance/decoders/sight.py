"""What each decoder sees in its formats: the features, what a document has besides, and that it cannot be read.

What it sees and knows is data, so that a claim is easy to see and to doubt.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

_ANY = "*"
"""In place of a name that a user chose."""


class UnreadableError(Exception):
    """User data is not what its format says; the text names the place, never a value."""


class NotServedError(Exception):
    """The user's own program does not serve the format; the text is its last word."""


@cache
def sees(decoder: str) -> tuple[str, ...]:
    """Give the features that a decoder sees."""
    text = files(__package__).joinpath("sight.yaml").read_text(encoding="utf-8")
    return tuple(yaml.safe_load(text)[decoder])


def unread(section: Any, known: Mapping[str, Any], place: str) -> Iterator[statepb.Other]:
    """Give what stands in a section, and not in the tree of what is known; known leaves hold anything."""
    for part in section if isinstance(section, list) else [section]:
        for key, value in part.items() if isinstance(part, dict) else ():
            name = key if key in known else _ANY
            if name in known:
                yield from unread(value, known[name], f"{place}{key}.") if known[name] else ()
            elif value not in (None, "", [], {}):
                yield other(f"{place}{key}", value)


def other(name: str, value: object) -> statepb.Other:
    """Give a part of a document for which a state has no place."""
    return statepb.Other(name=name, text=yaml.safe_dump(value, width=1 << 20, allow_unicode=True))


@cache
def known(decoder: str) -> Mapping[str, Any]:
    """Give the tree of what a decoder knows."""
    text = files(__package__).joinpath(f"{decoder}_known.yaml").read_text(encoding="utf-8")
    tree: Mapping[str, Any] = yaml.safe_load(text)
    return tree
