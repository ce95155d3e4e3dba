"""Finds the place of a field in a file by its name, as refusals and diagnostics give it: `Kind/name: spec.files[0]`."""

import re
from collections.abc import Iterable

from slipway.bootstrapper.namespaces import namespace_named
from slipway.contract.source_position import FieldPath, SourceProblem
from slipway.contract.yaml_document import Document, Source

_PART = re.compile(r"([^.\[\]]+)|\[([^\[\]]*)\]")


class Places:
    """The documents of a set of texts, by kind and name, and by namespace where several have those."""

    def __init__(self, documents: Iterable[Document] = ()) -> None:
        """Remember where documents stand; of two with the same kind, name and namespace, the first counts."""
        self._sources: dict[str, dict[str, Source]] = {}
        for document in documents:
            self._add(document.value, document.source)

    def find(self, field: str, *, config: str = "", namespace: str = "") -> SourceProblem | None:
        """Give the place of a field, with an empty message; None when its document is not known.

        Args:
            field: the field's name: document and path, or the path alone.
            config: the document that is meant when the name has none.
            namespace: whose documents are meant, where several namespaces have one of this kind and name.
        """
        name = re.sub(r" \(through [^()]*\)$", "", field)
        document, separator, path = name.rpartition(": ")
        sources = self._sources.get(document if separator else config, {})
        source = sources.get(namespace) or next(iter(sources.values()), None)
        parts = parse(path)
        if source is None or not parts or (not separator and parts[0] not in source.root.children):
            return None
        return source.problem(parts, "")

    def _add(self, tree: object, source: Source) -> None:
        if not isinstance(tree, dict):
            return
        metadata, kind = tree.get("metadata"), str(tree.get("kind", ""))
        name = metadata.get("name") if isinstance(metadata, dict) else None
        namespace = namespace_named(str(metadata.get("namespace") or "")) if isinstance(metadata, dict) else ""
        self._sources.setdefault(f"{kind}/{name}" if name else kind, {}).setdefault(namespace, source)
        items = tree.get("items")
        if kind != "List" or not isinstance(items, list):
            return
        for index, item in enumerate(items):
            shape = source.shape(("items", index))
            if shape is not None:
                self._add(item, Source(source.file, shape))


def parse(path: str) -> FieldPath:
    """Give the parts of a path in text form: `spec.files[0].path`, `metadata.labels[example.com/a]`."""
    parts: list[str | int] = []
    for plain, bracketed in _PART.findall(path):
        parts.append(plain or (int(bracketed) if bracketed.isdecimal() else bracketed))
    return tuple(parts)
