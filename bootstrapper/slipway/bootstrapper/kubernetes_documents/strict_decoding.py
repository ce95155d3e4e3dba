"""The verdict of Kubernetes' strict decoder on a plain tree: unknown fields and wrong types, each with its place."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from slipway.bootstrapper.kubernetes_documents.type_table import Known, TypeTable
from slipway.bootstrapper.kubernetes_documents.values import mismatch
from slipway.contract.source_position import FieldPath, did_you_mean


@dataclass(frozen=True, slots=True)
class Mistake:
    """A field of a document, what is wrong with it, and whether that is certain."""

    path: FieldPath
    message: str
    certain: bool = True


def mistakes(tree: Any, type_name: str, table: TypeTable, *, directives: bool = False) -> Iterator[Mistake]:
    """Give everything that the strict decoder does not accept in a document.

    Args:
        tree: the document.
        type_name: the type of its kind.
        table: the types of the Kubernetes version.
        directives: the document is a patch, which may have directives such as `$patch` beside the fields.
    """
    yield from _Decoder(table, directives=directives).value(tree, f"#{type_name}", ())


@dataclass(frozen=True, slots=True)
class _Decoder:
    table: TypeTable
    directives: bool

    def value(self, value: Any, expected: str, path: FieldPath) -> Iterator[Mistake]:
        if not expected.startswith(("#", "[]", "{}")):
            message = mismatch(value, expected)
            if message:
                yield Mistake(path, message)
        elif value is None:
            return
        elif expected.startswith("[]"):
            if not isinstance(value, list):
                yield Mistake(path, "must be a list")
                return
            for index, item in enumerate(value):
                yield from self.value(item, expected[2:], (*path, index))
        elif not isinstance(value, dict):
            yield Mistake(path, "must be a mapping")
        elif expected.startswith("{}"):
            for key, item in value.items():
                yield from self.value(item, expected[2:], (*path, key))
        else:
            yield from self._fields(value, expected[1:], path)

    def _fields(self, value: dict[str, Any], type_name: str, path: FieldPath) -> Iterator[Mistake]:
        for key, item in value.items():
            if self.directives and key.startswith("$"):
                continue
            known, expected = self.table.field(type_name, key)
            if known is Known.YES:
                yield from self.value(item, expected, (*path, key))
                continue
            meant = did_you_mean(key, self.table.types[type_name])
            hint = f"; did you mean {meant}?" if meant else ""
            if known is Known.NO:
                yield Mistake((*path, key), f"is no field of this Kubernetes version{hint}")
            else:
                yield Mistake((*path, key), f"may be no field of this Kubernetes version{hint}", certain=False)
