"""What a control demands of one value, so that a spec and a machine are judged alike.

The operators are few, since the program that checks a machine has the same ones in shell.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

Scalar = bool | int | str


class Row(BaseModel):
    """Base of everything in a profile's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(Row):
    """A demand on a value. Exactly one operator counts; without one the value must be `value`.

    Attributes:
        value: what is set where a spec has none; None where nothing is.
        equals: it is this.
        includes: it is a list, with commas between, with this in it.
        excludes: it is a list in which none of these is.
        among: it is a list of these only; all of them are set where a spec has none, and there is no `value`.
        at_least: it is a number that is not smaller.
        present: it is there, whatever it is; or it is not.
        or_unset: it may be missing.
    """

    value: Scalar | None = None
    equals: str | None = None
    includes: str | None = None
    excludes: str | tuple[str, ...] | None = None
    among: tuple[str, ...] = ()
    at_least: int | None = None
    present: bool | None = None
    or_unset: bool = False

    @model_validator(mode="after")
    def _demands_one_thing(self) -> Self:
        operators = (self.equals, self.includes, self.excludes, self.among or None, self.at_least, self.present)
        count = sum(operator is not None for operator in operators)
        if count > 1 or (not count and self.value is None):
            raise ValueError("needs one operator, or a value")
        return self

    @property
    def operator(self) -> tuple[str, str]:
        """The operator and its operand, as the program that checks a machine knows them."""
        if self.present is not None:
            return ("present" if self.present else "absent"), ""
        if self.among:
            return "among", ",".join(self.among)
        if self.at_least is not None:
            return "at-least", str(self.at_least)
        if self.includes is not None:
            return "includes", self.includes
        if self.excludes is not None:
            names = (self.excludes,) if isinstance(self.excludes, str) else self.excludes
            return "excludes", ",".join(names)
        return "equals", self.equals if self.equals is not None else text_of(self.value)

    @property
    def default(self) -> Scalar | tuple[str, ...] | None:
        """What is set where a spec has no value; None for nothing."""
        return self.value if self.value is not None else self.among or None

    def accepts(self, observed: str | None) -> bool:
        """Judge a value; None for one that is not there."""
        operator, operand = self.operator
        if observed is None:
            return self.or_unset or operator == "absent"
        entries = [] if not observed else observed.split(",")
        match operator:
            case "present":
                return bool(observed)
            case "absent":
                return False
            case "among":
                return bool(entries) and set(entries) <= set(operand.split(","))
            case "at-least":
                return observed.isdecimal() and int(observed) >= int(operand)
            case "includes":
                return operand in entries
            case "excludes":
                return set(entries).isdisjoint(operand.split(","))
            case _:
                return observed == operand


def text_of(value: object) -> str:
    """Write a value as arguments and observations have it: lists with commas, truth in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(map(text_of, value))
    return str(value)
