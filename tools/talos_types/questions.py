"""Patches for Talos of many kinds, and each of them with one thing wrong, or changed: the same list each time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.kubernetes_types.mutations import mutations

_CORPUS = Path(__file__).with_name("corpus.yaml")


def questions() -> list[str]:
    """Give the text of each patch."""
    documents = yaml.safe_load_all(_CORPUS.read_text(encoding="utf-8"))
    return [json.dumps(variant) for document in documents for part in _parts(document) for variant in mutations(part)]


def _parts(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Give a document of a kind as it is, and the main one as many patches of one field each, which are read faster."""
    if "kind" in document:
        yield document
        return
    yield {name: value for name, value in document.items() if not isinstance(value, dict)}
    for section in ("machine", "cluster"):
        yield from ({section: {name: value}} for name, value in document[section].items())
