"""The clauses of the contract as data: the suite, the reference page and the tests read the same list."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any

import yaml


class Level(StrEnum):
    """How binding a clause is, in the words of RFC 2119."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause.

    Attributes:
        id: its stable id, e.g. "RND-004".
        level: how binding it is.
        binds: "provisioner", or who else: "caller", "registry", "machine".
        text: the clause itself, Markdown.
        untestable: why no check of the suite can show that it holds; empty when there is one.
    """

    id: str
    level: Level
    binds: str
    text: str
    untestable: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Clauses about one thing.

    Attributes:
        id: three letters that begin the ids of its clauses.
        title: what it is about.
        introduction: Markdown before the clauses.
        clauses: the clauses, by id.
    """

    id: str
    title: str
    introduction: str
    clauses: tuple[Clause, ...]


@cache
def groups() -> tuple[Group, ...]:
    """Give all groups in the order of the page."""
    folder = files(__package__) / "contract_text"
    index = yaml.safe_load(folder.joinpath("index.yaml").read_text(encoding="utf-8"))
    return tuple(
        _group(yaml.safe_load(folder.joinpath(f"{name}.yaml").read_text(encoding="utf-8"))) for name in index["groups"]
    )


@cache
def clauses() -> Mapping[str, Clause]:
    """Give all clauses by id."""
    return {clause.id: clause for group in groups() for clause in group.clauses}


@dataclass(frozen=True, slots=True)
class Situation:
    """A question that an author asks, its answer, and the clauses where it stands."""

    when: str
    answer: str
    clauses: tuple[str, ...]


def situations() -> list[Situation]:
    """Give the questions in the order of the page."""
    text = (files(__package__) / "contract_text" / "situations.yaml").read_text(encoding="utf-8")
    return [Situation(one["when"], one["answer"], tuple(one["clauses"])) for one in yaml.safe_load(text)]


def introduction() -> str:
    """Give what stands before all groups."""
    text = (files(__package__) / "contract_text" / "index.yaml").read_text(encoding="utf-8")
    return str(yaml.safe_load(text)["introduction"])


def _group(data: dict[str, Any]) -> Group:
    return Group(
        id=data["id"], title=data["title"], introduction=data["introduction"].strip(), clauses=tuple(_clauses(data))
    )


def _clauses(data: dict[str, Any]) -> Iterator[Clause]:
    for id_, one in data["clauses"].items():
        yield Clause(
            id=id_,
            level=Level(one["level"]),
            binds=one.get("binds", "provisioner"),
            text=one["text"].strip(),
            untestable=one.get("untestable", ""),
        )
