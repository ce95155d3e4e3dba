"""Values of kubeadm's configuration that only the machine knows, put at their places in the documents."""

import re
from collections.abc import Iterable

from slipway.bootstrapper.engines.documents.document import Tree
from slipway.bootstrapper.engines.texts import machine_text
from slipway.v1alpha1 import spec_pb2 as specpb

_INDEX = re.compile(r"\[(\d+)\]")
_OF_CLUSTER = ("apiServer.", "etcd.")


def set_machine_values(
    values: Iterable[specpb.KubeadmMachineValue], machine: dict[str, Tree], cluster: dict[str, Tree] | None
) -> None:
    """Put values into the document of the machine, and into that of the cluster where this machine creates it.

    The contract has the fields: format "kubeadm-field". Entries of a list come in their order, each at its place.
    """
    for value in sorted(values, key=lambda entry: _parts(entry.field)):
        document = cluster if value.field.startswith(_OF_CLUSTER) else machine
        if document is not None:
            _set(document, _parts(value.field), machine_text(value.value))


def _parts(field: str) -> list[tuple[str, int]]:
    """Give the names of a path, each with its place in a list, or -1."""
    parts = []
    for word in field.split("."):
        index = _INDEX.search(word)
        parts.append((_INDEX.sub("", word), int(index[1]) if index else -1))
    return parts


def _set(document: dict[str, Tree], parts: list[tuple[str, int]], value: Tree) -> None:
    here = document
    *above, (last, place) = parts
    for name, index in above:
        below = here.setdefault(name, {})
        if isinstance(below, list):
            below = below[index]
        if not isinstance(below, dict):
            raise TypeError(f"{name} holds no fields")
        here = below
    if place < 0:
        here[last] = value
        return
    entries = here.setdefault(last, [])
    if not isinstance(entries, list):
        raise TypeError(f"{last} is no list")
    entries.insert(place, value)
