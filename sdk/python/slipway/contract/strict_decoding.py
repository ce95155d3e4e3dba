"""The verdict of a strict decoder on a plain tree: unknown fields and wrong types, each with its place."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from slipway.contract.source_position import FieldPath, did_you_mean
from slipway.contract.type_table import Known, TypeTable


@dataclass(frozen=True, slots=True)
class Mistake:
    """A field of a document, what is wrong with it, and whether that is certain."""

    path: FieldPath
    message: str
    certain: bool = True


def _never(_value: Any) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class StrictDecoder:
    """What a program accepts.

    Attributes:
        table: the types of its version.
        mismatch: gives what a value must be, where it is not of the plain type whose word is given; "" where it is.
        is_directive: whether a name is a directive, such as `$patch`, which may stand beside the fields.
        is_left_out: whether a value is taken out before the types count.
    """

    table: TypeTable
    mismatch: Callable[[Any, str], str]
    is_directive: Callable[[str], bool] = _never
    is_left_out: Callable[[Any], bool] = _never

    def mistakes(self, tree: Any, type_name: str) -> Iterator[Mistake]:
        """Give everything that the program does not accept in a document of a type."""
        yield from self._value(tree, f"#{type_name}", ())

    def _value(self, value: Any, expected: str, path: FieldPath) -> Iterator[Mistake]:
        if self.is_left_out(value):
            return
        if expected.startswith(("#", "[]", "{}")):
            yield from self._nested(value, expected, path)
            return
        message = self.mismatch(value, expected)
        if message:
            yield Mistake(path, message)

    def _nested(self, value: Any, expected: str, path: FieldPath) -> Iterator[Mistake]:
        if value is None:
            return
        if expected.startswith("[]"):
            if not isinstance(value, list):
                yield Mistake(path, "must be a list")
                return
            for index, item in enumerate(value):
                yield from self._value(item, expected[2:], (*path, index))
        elif not isinstance(value, dict):
            yield Mistake(path, "must be a mapping")
        elif expected.startswith("{}"):
            for key, item in value.items():
                yield from self._value(item, expected[2:], (*path, key))
        else:
            yield from self._fields(value, expected[1:], path)

    def _fields(self, value: dict[str, Any], type_name: str, path: FieldPath) -> Iterator[Mistake]:
        for key, item in value.items():
            if self.is_directive(key) or self.is_left_out(item):
                continue
            known, expected = self.table.field(type_name, key)
            if known is Known.YES:
                yield from self._value(item, expected, (*path, key))
                continue
            meant = did_you_mean(key, self.table.types[type_name])
            hint = f"; did you mean {meant}?" if meant else ""
            verb = "is" if known is Known.NO else "may be"
            message = f"{verb} no field of {self.table.version}{hint}"
            yield Mistake((*path, key), message, certain=known is Known.NO)
