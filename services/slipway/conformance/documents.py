"""Documents in the contents of extensions: read as their media type says, and others made of them, one change each."""

import json
import tomllib
from collections.abc import Iterator
from functools import reduce
from itertools import chain
from typing import Any

import yaml

_SUFFIXES = ("1", ' it\'s "so" #1: $x %d')
"""Behind a text: a sign that every grammar has, and some that need quoting."""


def read(data: bytes, media_type: str) -> Any:
    """Give what a document says; None where it is of another kind than JSON, YAML and TOML, or cannot be read."""
    try:
        text = data.decode()
        if media_type.partition(";")[0].endswith("toml"):
            return tomllib.loads(text)
        if _is_json(media_type):
            return json.loads(text)
        return yaml.safe_load(text) if "yaml" in media_type else None
    except (ValueError, yaml.YAMLError, RecursionError):
        return None


def reported(text: str, media_type: str) -> Any:
    """Give what a decoder reports of a document: in the form of the document itself, or as JSON."""
    as_json = read(text.encode(), "application/json")
    return read(text.encode(), media_type) if as_json is None else as_json


def written(tree: Any, media_type: str) -> bytes:
    """Give a document; YAML is written as the JSON that it may be."""
    if media_type.partition(";")[0].endswith("toml"):
        return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in tree.items()).encode()
    return json.dumps(tree, ensure_ascii=False).encode()


def joined(trees: list[Any]) -> Any:
    """Give several documents as the one that a system makes of them: mappings are merged, lists are put in a row."""
    if trees and all(isinstance(tree, dict) for tree in trees):
        return reduce(_merged, trees)
    if trees and all(isinstance(tree, list) for tree in trees):
        return list(chain.from_iterable(trees))
    return trees


def values(tree: Any) -> Iterator[Any]:
    """Give documents that differ from this one in what stands at one place, and from each other."""
    if isinstance(tree, bool):
        yield not tree
    elif isinstance(tree, int | float):
        yield tree + 1
    elif isinstance(tree, str):
        yield from (f"{tree}{suffix}" for suffix in _SUFFIXES)
    elif isinstance(tree, dict):
        yield from ({**tree, key: other} for key, value in tree.items() for other in values(value))
        yield from ({**tree, f"{key}-2": value} for key, value in tree.items() if isinstance(value, dict))
    elif isinstance(tree, list):
        yield from ([*tree[:at], other, *tree[at + 1 :]] for at, value in enumerate(tree) for other in values(value))
        yield from ([*tree, other] for value in tree[:1] for other in list(values(value))[:1])
        yield from [tree[::-1]] * (tree != tree[::-1])


def lacking(tree: Any) -> Iterator[Any]:
    """Give documents that each lack one thing which this one has."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield {name: other for name, other in tree.items() if name != key}
            yield from ({**tree, key: less} for less in lacking(value))
    elif isinstance(tree, list):
        for at, value in enumerate(tree):
            yield tree[:at] + tree[at + 1 :]
            yield from ([*tree[:at], less, *tree[at + 1 :]] for less in lacking(value))


def marked(tree: Any, mark: str) -> Iterator[Any]:
    """Give documents that have a mark in the place of one text each."""
    if isinstance(tree, str):
        yield mark
    elif isinstance(tree, dict):
        yield from ({**tree, key: other} for key, value in tree.items() for other in marked(value, mark))
    elif isinstance(tree, list):
        yield from (
            [*tree[:at], other, *tree[at + 1 :]] for at, value in enumerate(tree) for other in marked(value, mark)
        )


def _is_json(media_type: str) -> bool:
    return media_type.partition(";")[0].endswith("json")


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    made = dict(first)
    for key, value in second.items():
        both = isinstance(value, dict) and isinstance(made.get(key), dict)
        made[key] = _merged(made[key], value) if both else value
    return made


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool | int | float) else str(value)
