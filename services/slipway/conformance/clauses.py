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
        chapter: id of the chapter that it is in.
        binds: "provisioner", or who else: "caller", "registry", "machine".
        text: the clause itself, Markdown.
        untestable: why no check of the suite can show that it holds; empty when there is one.
    """

    id: str
    level: Level
    chapter: str
    binds: str
    text: str
    untestable: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Clauses about one thing.

    Attributes:
        id: three letters that begin the ids of its clauses.
        title: what it is about.
        chapter: id of the chapter that most of its clauses are in.
        introduction: Markdown before the clauses.
        clauses: the clauses, by id.
        elsewhere: titles of the parts that are in other chapters, by the chapter's id.
    """

    id: str
    title: str
    chapter: str
    introduction: str
    clauses: tuple[Clause, ...]
    elsewhere: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Chapter:
    """What a provisioner can keep for itself: a profile of the suite.

    Attributes:
        id: the profile's name, e.g. "render".
        title: its heading.
        introduction: Markdown before its groups.
    """

    id: str
    title: str
    introduction: str


@cache
def chapters() -> tuple[Chapter, ...]:
    """Give all chapters in the order of the page."""
    return tuple(Chapter(**{**data, "introduction": data["introduction"].strip()}) for data in _index()["chapters"])


@cache
def groups() -> tuple[Group, ...]:
    """Give all groups in the order of the page."""
    return tuple(_group(_read(name)) for name in _index()["groups"])


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
    return [Situation(one["when"], one["answer"], tuple(one["clauses"])) for one in _read("situations")]


def introduction() -> str:
    """Give what stands before all groups."""
    return str(_index()["introduction"])


def _read(name: str) -> Any:
    return yaml.safe_load((files(__package__) / "contract_text" / f"{name}.yaml").read_text(encoding="utf-8"))


@cache
def _index() -> Mapping[str, Any]:
    index: Mapping[str, Any] = _read("index")
    return index


def _group(data: dict[str, Any]) -> Group:
    return Group(
        id=data["id"],
        title=data["title"],
        chapter=data["chapter"],
        introduction=data["introduction"].strip(),
        clauses=tuple(_clauses(data)),
        elsewhere=data.get("elsewhere", {}),
    )


def _clauses(data: dict[str, Any]) -> Iterator[Clause]:
    for id_, one in data["clauses"].items():
        yield Clause(
            id=id_,
            level=Level(one["level"]),
            chapter=one.get("chapter", data["chapter"]),
            binds=one.get("binds", "provisioner"),
            text=one["text"].strip(),
            untestable=one.get("untestable", ""),
        )
