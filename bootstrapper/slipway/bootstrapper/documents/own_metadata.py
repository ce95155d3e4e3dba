"""The labels and annotations that Slipway knows: a name that is spelt otherwise has no effect.

Objects of Cluster API carry names of many projects, so that a slip is a doubt and no mistake.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from slipway.contract.source_position import FieldPath, SourceProblem, did_you_mean
from slipway.contract.yaml_document import Document

_DOMAIN = "slipway.dev"
_GROUP = f"bootstrap.{_DOMAIN}"

ANNOTATIONS = frozenset(
    f"{_GROUP}/{name}"
    for name in (
        *("compliance", "distribution", "format", "imported-format", "kubeadm-version", "paused", "provisioner"),
        *("released", "reporting", "user-data-unchanged"),
    )
)
"""Names of annotations that people write."""

LABELS = frozenset(
    {
        *(f"{_GROUP}/{name}" for name in ("managed", "owner")),
        *(f"{_DOMAIN}/{name}" for name in ("calls-controller", "reads-metrics", "role", "shows-reports")),
    }
)
"""Names of labels, those of deploy/ included."""

_MADE = frozenset({"ConfigMap", "Lease", "Secret"})
"""Kinds of objects that Slipway makes, with names of its own."""

_KNOWN = {"annotations": ANNOTATIONS, "labels": LABELS}
_OTHER = {"annotations": "label", "labels": "annotation"}


def slips(metadata: Any) -> Iterator[tuple[FieldPath, str]]:
    """Give the names in an object's metadata that are meant for Slipway and unknown to it, and what is wrong."""
    if not isinstance(metadata, dict):
        return
    for place, known in _KNOWN.items():
        names = metadata.get(place)
        for name in names if isinstance(names, dict) else ():
            if isinstance(name, str) and name not in known and _is_meant_for_us(name):
                yield (place, name), _wrong(name, place)


def metadata_doubts(documents: Iterable[Document]) -> Iterator[SourceProblem]:
    """Give a doubt for every such name in any metadata of documents, those of templates included."""
    for document in documents:
        for path, metadata in _metadata(document.value, ()):
            for place, message in slips(metadata):
                yield document.source.problem((*path, *place), message)


def _metadata(tree: Any, path: FieldPath) -> Iterator[tuple[FieldPath, Any]]:
    if isinstance(tree, list):
        for index, item in enumerate(tree):
            yield from _metadata(item, (*path, index))
    if not isinstance(tree, dict) or tree.get("kind") in _MADE:
        return
    for key, value in tree.items():
        if key == "metadata":
            yield (*path, key), value
        else:
            yield from _metadata(value, (*path, key))


def _is_meant_for_us(name: str) -> bool:
    prefix, slash, own = name.partition("/")
    if not slash:
        return False
    if prefix == _DOMAIN or prefix.endswith(f".{_DOMAIN}"):
        return True
    return did_you_mean(prefix, [_GROUP]) is not None and _meant(own, ANNOTATIONS | LABELS) is not None


def _wrong(name: str, place: str) -> str:
    if name in ANNOTATIONS | LABELS:
        return f"is {'an' if place == 'labels' else 'a'} {_OTHER[place]} of Slipway's, and has no effect here"
    meant = _meant(name.partition("/")[2], _KNOWN[place])
    hint = f"did you mean {meant}?" if meant else f"there are {', '.join(sorted(_KNOWN[place]))}"
    return f"Slipway knows no such {place.removesuffix('s')}, so it has no effect; {hint}"


def _meant(own: str, known: frozenset[str]) -> str | None:
    """Give the known name that was meant by one, of which only what stands behind its prefix is compared."""
    by_own = {name.partition("/")[2]: name for name in known}
    return by_own.get(did_you_mean(own, by_own) or "")
