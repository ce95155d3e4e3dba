"""What a Talos machine configuration says besides what the decoder reads: a rule for a device, a door to its API."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import yaml

from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

_ANY = "*"
"""In place of a name that a user chose."""


def others(main: Mapping[str, Any], documents: Sequence[Mapping[str, Any]]) -> Iterator[statepb.Other]:
    """Give all that is neither read nor what every machine of Talos has."""
    yield from _unread(main, _known()["main"], "")
    for document in documents:
        kind = str(document.get("kind", "document"))
        if kind in _known()["documents"]:
            yield from _unread(document, {"apiVersion": None, "kind": None, **_known()["documents"][kind]}, f"{kind}.")
        else:
            yield _other(kind, document)


def _unread(section: Any, known: Mapping[str, Any], place: str) -> Iterator[statepb.Other]:
    """Give what stands in a section, and not in the tree of what is known; known leaves hold anything."""
    for one in section if isinstance(section, list) else [section]:
        for key, value in one.items() if isinstance(one, dict) else ():
            name = key if key in known else _ANY
            if name in known:
                yield from _unread(value, known[name], f"{place}{key}.") if known[name] else ()
            elif value not in (None, "", [], {}):
                yield _other(f"{place}{key}", value)


def _other(name: str, value: object) -> statepb.Other:
    return statepb.Other(name=name, text=yaml.safe_dump(value, width=1 << 20, allow_unicode=True))


@cache
def _known() -> Mapping[str, Any]:
    text = files(__package__).joinpath("talos_known.yaml").read_text(encoding="utf-8")
    known: Mapping[str, Any] = yaml.safe_load(text)
    return known
