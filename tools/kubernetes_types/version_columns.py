"""One table of types from those of several versions: what all versions have in common stands there once."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def write_table(path: Path, source: str, schemas: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the table of the schemas by minor version, oldest first, as `slipway.contract.type_table` reads it."""
    every = list(schemas.values())
    names = sorted({name for schema in every for name in schema["types"]})
    table = {
        "source": source,
        "versions": list(schemas),
        "kinds": merged([schema["kinds"] for schema in every]),
        "types": {name: merged([schema["types"].get(name, {}) for schema in every]) for name in names},
    }
    path.write_text(json.dumps(table, separators=(",", ":")) + "\n")


def merged(columns: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """Give by name the word of all versions, or the runs of versions that have the same word."""
    names = sorted({name for column in columns for name in column})
    return {name: _cell([column.get(name, "") for column in columns]) for name in names}


def _cell(words: Sequence[str]) -> object:
    if len(set(words)) == 1:
        return words[0]
    runs = [
        (word, [index for index, _ in group]) for word, group in itertools.groupby(enumerate(words), lambda p: p[1])
    ]
    return [[word, indices[0], indices[-1]] for word, indices in runs if word]
