"""Which infrastructure providers change user data on its way: a table, because it is facts and not code."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import yaml
from pydantic import BaseModel, ConfigDict

ANNOTATION = "bootstrap.slipway.dev/user-data-unchanged"
"""On a config: its machines get user data unchanged, whatever the table says of their infrastructure."""

NEVER = "none"


class Wrapping(BaseModel):
    """One row of the table."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kinds: tuple[str, ...]
    why: str
    unless: str


@cache
def wrappings() -> tuple[Wrapping, ...]:
    """Give all rows."""
    text = files("slipway.controller").joinpath("wrapping.yaml").read_text(encoding="utf-8")
    return tuple(Wrapping.model_validate(row) for row in yaml.safe_load(text))


def wraps(kind: str, annotations: Mapping[str, str]) -> str:
    """Give what a kind of machines does to user data, as a clause, or "" when it hands them on."""
    for row in wrappings():
        if kind in row.kinds:
            excepted = row.unless != NEVER and annotations.get(ANNOTATION) == "true"
            return "" if excepted else row.why
    return ""
