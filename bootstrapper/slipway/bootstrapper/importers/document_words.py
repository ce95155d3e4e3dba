"""Says what is wrong with an imported spec in the words of the document that it came from.

Errors name fields of neutral items, each with the place of its item. Here the place becomes that of the field which the
user wrote, and the remedy takes its name. What only Slipway put together is broken up into the user's fields.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import re2
from google.protobuf.message import Message

from slipway.bootstrapper.field_index import enclosing
from slipway.bootstrapper.importers.cluster_api.machine_set import CONFIG_PATHS
from slipway.bootstrapper.importers.field_names import (
    COMMANDS,
    NAMED_ENTRIES,
    NAMES,
    NOT_IN_DOCUMENTS,
    OLDER_NAMES,
    PLAIN,
    SNIPPET_NAMES,
)
from slipway.bootstrapper.importers.item_fields import Tokens, entry_name, field_tokens, field_value, items_in
from slipway.bootstrapper.importers.mapping.context import CLOUD_CONFIG, IGNITION
from slipway.contract.errors import SlipwayError, Violation
from slipway.contract.feature_uses import uses
from slipway.contract.items import within
from slipway.contract.yaml_names import person_path
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import spec_pb2 as specpb

_THROUGH = re2.compile(r" \(through [^()]*\)$")
_WORD = re2.compile(r"[a-z][A-Za-z]*(?:\[[0-9]+\])?(?:\.[a-z][A-Za-z]*(?:\[[0-9]+\])?)*")
_ADDED_GATES = "engine_options.kubeadm.feature_gates"
_OLDER = "v1beta1"


@dataclass(frozen=True, slots=True)
class _Item:
    """An item of an imported spec, its field path, and the feature of the field that holds it ("" for none)."""

    message: Any
    path: str
    feature: str

    @property
    def kind(self) -> str:
        return str(self.message.DESCRIPTOR.name)


def is_of_document(spec: specpb.MachineBootstrapSpec) -> bool:
    """Whether a spec was imported, so that its fields have other names in the document that people wrote."""
    return spec.imported.kind in CONFIG_PATHS


@contextmanager
def in_words_of_document(spec: specpb.MachineBootstrapSpec) -> Iterator[None]:
    """Have every error that leaves the block name fields as the document of an imported spec has them.

    Raises:
        SlipwayError: what the block raises.
    """
    try:
        yield
    except SlipwayError as error:
        if is_of_document(spec) and error.violations:
            words = DocumentWords(spec)
            renamed = [other for violation in error.violations for other in words.violations(violation)]
            error.violations = tuple(dict.fromkeys(renamed))
        raise


class DocumentWords:
    """The names of one imported spec's fields."""

    def __init__(self, spec: specpb.MachineBootstrapSpec) -> None:
        """Look at a spec that says what it was imported from."""
        self._spec = spec
        self._base = ".".join(map(str, CONFIG_PATHS[spec.imported.kind]))
        self._items: dict[tuple[str, str], list[_Item]] = {}
        self._uses = list(uses(spec))
        features: dict[str, str] = {}
        for use in self._uses:
            features.setdefault(use.path, use.id)
        for path, message in items_in(spec, ""):
            item = _Item(message, path, features.get(path, ""))
            self._items.setdefault((message.origin.document, message.origin.path), []).append(item)

    def violations(self, violation: Violation) -> list[Violation]:
        """Give a violation at the field, or the fields, that the user wrote."""
        document, separator, path = _THROUGH.sub("", violation.path).partition(": ")
        if not separator:
            places = self._plain(violation.path)
            return [replace(violation, path=place) for place in places]
        held = self._holder(document, path, violation.feature)
        if held is None:
            return [replace(violation, path=f"{document}: {self._known(document, path)}")]
        item, outer = held
        inner = path[len(outer) :].removeprefix(".")
        fields = [inner] if inner else self._fields(item, violation) or [""]
        beginning, alternative = violation.inner, violation.alternative
        head, message = violation.remedy.removesuffix(alternative), violation.description.removeprefix(beginning)
        begins = bool(field_tokens(beginning, item.message.DESCRIPTOR))
        renamed = []
        for field in fields:
            place = self.place(item, outer, field) if field else path
            words = self._in_words(item, outer, head) + alternative
            begin = self._word(item, outer, beginning) if begins else beginning
            description = message.lstrip() if begins and place.endswith(begin) else begin + message
            renamed.append(replace(violation, path=f"{document}: {place}", description=description, remedy=words))
        return renamed

    def place(self, item: _Item, outer: str, inner: str) -> str:
        """Give the path in the document of a field of an item.

        Args:
            item: the item.
            outer: where it was written.
            inner: the path of the field in it, as a person writes it.
        """
        tokens = field_tokens(inner, item.message.DESCRIPTOR)
        item, outer = self._setter(item, outer, tokens)
        names = self._names(item.kind, outer)
        parts, key, message = [outer], "", item.message
        for name, index in tokens:
            key = f"{key}.{name}" if key else name
            before, message = message, field_value(message, name, index)
            word = self._of_value(item.kind, key, message, names)
            if word == ".":
                break
            if word[0] in "/@":
                parts = [self._base if word[0] == "/" else self._part(outer)]
            elif word[0] == "<":
                parts.pop()
            if word == "[]":
                parts[-1] += index
            elif word[0] == "[":
                parts[-1] += word
            elif name in NAMED_ENTRIES and index and self._by_name(name):
                parts += [word.lstrip("/@<"), str(entry_name(before, name, index))]
                break
            else:
                parts.append(word.lstrip("/@<").removesuffix("!") + ("" if word[-1] == "!" else index))
        return _joined(parts)

    def _plain(self, path: str) -> list[str]:
        """Give the places of a field that lies in no item."""
        inner = path.removeprefix("spec.")
        if inner == path:
            return [path]
        document = next((f"{document}: " for document, _ in self._items if document), "")
        if within(inner, "commands"):
            names = [name for phase, name in COMMANDS.items() if getattr(self._spec.commands, phase)]
        else:
            names = [name for key, name in PLAIN.items() if within(inner, key)]
        return [f"{document}{self._base}.{name}" for name in names] or [path]

    def _holder(self, document: str, path: str, feature: str) -> tuple[_Item, str] | None:
        """Give the item that a place is, or lies in, and where that was written."""
        for outer in enclosing(path):
            for item in self._items.get((document, outer), ()):
                inner = path[len(outer) :].removeprefix(".")
                fits = not feature or not item.feature or within(feature, item.feature)
                if fits and (not inner or field_tokens(inner, item.message.DESCRIPTOR)):
                    return item, outer
        return None

    def _known(self, document: str, path: str) -> str:
        """Give the place of the item that a place lies in, where the rest of it is no field of that item."""
        return next((outer for outer in enclosing(path) if (document, outer) in self._items), path)

    def _setter(self, item: _Item, outer: str, tokens: Tokens) -> tuple[_Item, str]:
        """Give the item of this type that has the field: items of a role are merged with those of all roles."""
        if not tokens or field_value(item.message, *tokens[0]) is not None:
            return item, outer
        for (_, path), others in self._items.items():
            for other in others:
                if other.kind == item.kind and field_value(other.message, *tokens[0]) is not None:
                    return other, path
        return item, outer

    def _fields(self, item: _Item, violation: Violation) -> list[str]:
        """Give the fields of an item that a refusal of the whole of it is about; none for the item itself."""
        wanted = violation.part if within(violation.part, violation.feature) else violation.feature
        if wanted and wanted != item.feature:
            chosen = [use.path for use in self._uses if use.item_path == item.path and use.id == wanted]
            return [person_path(path[len(item.path) :].removeprefix(".")) for path in chosen]
        if item.kind not in NOT_IN_DOCUMENTS:
            return []
        added = _ADDED_GATES in self._spec.optional_features
        return [
            field.json_name
            for field, _ in item.message.ListFields()
            if field.name != "origin" and not (added and field.name == "feature_gates")
        ]

    def _of_value(self, kind: str, key: str, value: Any, names: dict[str, str]) -> str:
        """Give the document's name of a field, which may depend on what it holds.

        A value that the importer adds where the document has none stands for what is around it.
        """
        word = names.get(key, key.rpartition(".")[2])
        form = self._spec.imported.format
        if (kind, key, form) == ("User", "lockPassword", IGNITION) and value is False:
            return "."
        if (kind, key, form) == ("Disk", "tableType", CLOUD_CONFIG) and value == ospb.PARTITION_TABLE_TYPE_MBR:
            return "."
        if (kind, key) == ("Disk", "partitions") and isinstance(value, Message) and not value.ListFields():
            return "layout!"
        if isinstance(value, Message) and (kind, key) in {("User", "passwordHash"), ("File", "content")}:
            from_secret = any(field.name == "secret_ref" for field, _ in value.ListFields())
            return f"{word}From" if from_secret else word
        return word

    def _names(self, kind: str, outer: str) -> dict[str, str]:
        if ": " in outer:
            return dict(SNIPPET_NAMES.get(kind, {}))
        older = OLDER_NAMES.get(kind) if self._spec.imported.api_version.endswith(_OLDER) else None
        return dict(older or NAMES.get(kind, {}))

    def _by_name(self, name: str) -> bool:
        return name == "featureGates" or self._spec.imported.api_version.endswith(_OLDER)

    def _part(self, outer: str) -> str:
        joins = "joinConfiguration" in outer
        return f"{self._base}.{'joinConfiguration' if joins else 'initConfiguration'}"

    def _in_words(self, item: _Item, outer: str, text: str) -> str:
        """Give a remedy with the names that the document has for fields of the item."""
        for match in _WORD.finditer(text):
            tokens = field_tokens(match[0], item.message.DESCRIPTOR)
            if tokens and self.place(item, outer, match[0]) == outer:
                text = text.replace(f", and leave out {match[0]}", "")
        named: set[str] = set()

        def word(match: Any) -> str:
            """Give the name of a field where it is named first; the same word again is prose."""
            name = str(match[0])
            if name in named:
                return name
            named.add(name)
            return self._word(item, outer, name)

        changed = str(_WORD.sub(word, text))
        return changed if changed == text else _once(changed)

    def _word(self, item: _Item, outer: str, word: str) -> str:
        """Give the document's name of a field, from the item on; the word itself where it is no field."""
        if not field_tokens(word, item.message.DESCRIPTOR):
            return word
        place = self.place(item, outer, word)
        if place == outer or place.endswith("]") != word.endswith("]"):
            return word
        inside = place.removeprefix(f"{outer}.")
        return inside if inside != place else place.removeprefix(f"{self._base}.")


def _joined(parts: Sequence[str]) -> str:
    return ".".join(part for part in parts if part)


def _once(text: str) -> str:
    """Leave out the second of two names that became one."""
    first, separator, rest = text.partition(" and ")
    name, space, others = rest.partition(" ")
    return first + space + others if separator and first.endswith(f" {name}") else text
