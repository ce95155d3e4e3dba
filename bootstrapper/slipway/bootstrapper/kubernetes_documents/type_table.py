"""The types of Kubernetes' documents by minor version, as its own Go types have them (tools/kubernetes_types)."""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Series = tuple[int, int]


class Known(enum.Enum):
    """Whether a version has a field or a kind."""

    YES = "yes"
    NO = "no"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True, slots=True)
class TypeTable:
    """The types of one Kubernetes version.

    Of a version that the data do not have, those of the versions on both sides count: what none of them has, it may
    have nevertheless.
    """

    exact: bool
    types: Mapping[str, Mapping[str, str]]
    kinds: Mapping[str, str]

    def field(self, type_name: str, name: str) -> tuple[Known, str]:
        """Give whether a type has a field, and the expression of the field's type."""
        expression = self.types[type_name].get(name)
        return (Known.YES, expression) if expression else (self._missing, "")

    def kind(self, api_version: str, kind: str) -> tuple[Known, str]:
        """Give whether the version has a kind, and the name of its type."""
        type_name = self.kinds.get(f"{api_version} {kind}")
        return (Known.YES, type_name) if type_name else (self._missing, "")

    @property
    def _missing(self) -> Known:
        return Known.NO if self.exact else Known.UNCERTAIN


@cache
def type_table(series: Series) -> TypeTable:
    """Give the types of a minor version."""
    data = _data()
    every = [_series(version) for version in data["versions"]]
    if series in every:
        columns = [every.index(series)]
    else:
        older = [index for index, known in enumerate(every) if known < series][-1:]
        columns = older + [index for index, known in enumerate(every) if known > series][:1]
    types = {
        name: {field: word for field, cell in fields.items() if (word := _expression(cell, columns))}
        for name, fields in data["types"].items()
    }
    kinds = {kind: word for kind, cell in data["kinds"].items() if (word := _expression(cell, columns))}
    return TypeTable(series in every, types, kinds)


def _expression(cell: Any, columns: Sequence[int]) -> str:
    """Give what a cell says of any of the columns: text holds for all, a list has an entry for each run of columns."""
    if isinstance(cell, str):
        return cell
    return next((word for word, first, last in cell for column in columns if first <= column <= last), "")


@cache
def _data() -> Mapping[str, Any]:
    text = (files(__package__) / "types.json").read_text(encoding="utf-8")
    data: Mapping[str, Any] = json.loads(text)
    return data


def _series(version: str) -> Series:
    major, minor = version.split(".")
    return int(major), int(minor)
