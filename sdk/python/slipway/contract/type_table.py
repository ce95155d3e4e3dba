"""The types of another program's documents by version, as its own Go types have them: fields and their type words.

A table is generated from the published Go modules of each version (tools/kubernetes_types, tools/talos_types,
tools/ignition_types). A type word is that of a plain type, `#NAME` of a type of the table, or one of these behind
`[]` for a list and `{}` for a map.
"""

import enum
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
    """The types of one version.

    Of a version that the data do not have, those of the versions on both sides count: what none of them has, it may
    have nevertheless.

    Attributes:
        version: what has the types, such as "this Kubernetes version".
        exact: the data have the version.
        types: by the name of a type its fields, each with its type word.
        kinds: by apiVersion and kind the name of the type.
        any_case: the decoder takes a name in any case, as that of JSON in Go does.
    """

    version: str
    exact: bool
    types: Mapping[str, Mapping[str, str]]
    kinds: Mapping[str, str]
    any_case: bool = False

    def field(self, type_name: str, name: str) -> tuple[Known, str]:
        """Give whether a type has a field, and the expression of the field's type."""
        expression = self.types[type_name].get(name)
        if not expression and self.any_case:
            folded = name.casefold()
            fields = self.types[type_name].items()
            expression = next((word for field, word in fields if field.casefold() == folded), None)
        return (Known.YES, expression) if expression else (self._missing, "")

    def kind(self, api_version: str, kind: str) -> tuple[Known, str]:
        """Give whether the version has a kind, and the name of its type."""
        type_name = self.kinds.get(f"{api_version} {kind}")
        return (Known.YES, type_name) if type_name else (self._missing, "")

    @property
    def _missing(self) -> Known:
        return Known.NO if self.exact else Known.UNCERTAIN


def read_type_table(package: str, series: Series, *, version: str, any_case: bool = False) -> TypeTable:
    """Read the types of a minor version from the file `types.json` of a package, a few milliseconds each time.

    Args:
        package: the Python package that has the file.
        series: the minor version.
        version: what messages call it.
        any_case: the decoder takes a name in any case.
    """
    data: Mapping[str, Any] = json.loads((files(package) / "types.json").read_text(encoding="utf-8"))
    every = [_series(text) for text in data["versions"]]
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
    return TypeTable(version, series in every, types, kinds, any_case)


def _expression(cell: Any, columns: Sequence[int]) -> str:
    """Give what a cell says of any of the columns: text holds for all, a list has an entry for each run of columns."""
    if isinstance(cell, str):
        return cell
    return next((word for word, first, last in cell for column in columns if first <= column <= last), "")


def _series(version: str) -> Series:
    major, minor = version.split(".")
    return int(major), int(minor)
