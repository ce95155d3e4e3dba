"""Documents of every kind, and each of them with one thing wrong, or changed: the same list each time."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

_CORPUS = Path(__file__).with_name("corpus.yaml")
_VALUES: tuple[Any, ...] = (
    "a",
    "",
    "10s",
    "1h1.5m",
    "1 h",
    "5Gi",
    "1e3",
    "YQ==",
    "2030-01-01T00:00:00Z",
    5,
    -1,
    2**31,
    2**63,
    300,
    1.0,
    1.5,
    1e25,
    True,
    None,
    [],
    ["a"],
    [5],
    [None],
    {},
    {"a": "b"},
    {"a": 1},
)
_Path = tuple[str | int, ...]


def questions() -> list[dict[str, str]]:
    """Give kind and text of each document, as the Go program reads them."""
    variants = []
    for document in yaml.safe_load_all(_CORPUS.read_text(encoding="utf-8")):
        kind = f"{document['apiVersion']} {document['kind']}"
        variants += [{"Kind": kind, "Document": json.dumps(variant)} for variant in _variants(document)]
    return variants


def _variants(document: Any) -> Iterator[Any]:
    yield document
    for path in _paths(document, ()):
        for value in _VALUES:
            yield _with(document, path, value)
        if isinstance(path[-1], str):
            for name in (f"{path[-1]}x", path[-1].swapcase(), path[-1][:1].upper() + path[-1][1:]):
                yield _renamed(document, path, name)


def _paths(tree: Any, path: _Path) -> Iterator[_Path]:
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from _paths(value, (*path, key))


def _with(document: Any, path: _Path, value: Any) -> Any:
    changed = deepcopy(document)
    _holder(changed, path)[path[-1]] = deepcopy(value)
    return changed


def _renamed(document: Any, path: _Path, name: str) -> Any:
    changed = deepcopy(document)
    holder = _holder(changed, path)
    holder[name] = holder.pop(path[-1])
    return changed


def _holder(tree: Any, path: _Path) -> Any:
    for part in path[:-1]:
        tree = tree[part]
    return tree
