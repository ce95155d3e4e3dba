"""JSON with one meaning: a member that stands twice is read differently by different programs, so it is refused."""

import json
from typing import Any


def load_unique(text: bytes) -> Any:
    """Return a JSON document, each of whose objects has each member once.

    Raises:
        ValueError: it is not JSON in UTF-8, or a member stands twice.
        RecursionError: it is too deep.
    """
    return json.loads(text.decode("utf-8"), object_pairs_hook=_once)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("a member stands twice")
    return made
