"""What became of each field of a spec in one format, found by look-ups.

Explain asks this for every field and every format. The fields may be thousands, and so may the refusals and what was
lowered: nothing is searched for.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Self, TypeVar

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.compilation.engine_plan import ENGINE_NAMESPACES
from slipway.bootstrapper.delivery.fitting import Fitted
from slipway.bootstrapper.field_index import enclosing
from slipway.bootstrapper.judgement import Trial
from slipway.bootstrapper.problems.places import person_field, spec_path
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.problems.remedies import remedy_of_error
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import Use
from slipway.contract.items import origin_of, within
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1.reasons import Reason

T = TypeVar("T")

_EXECUTED = ("commands.pre", "commands.post", "engine_options", "intent.kubernetes", "plan.steps", "plan.entrypoint")
"""Fields of a bundle that the steps of a plan are made of."""

_ENGINE = "kubernetes.engine"

_Place = tuple[str, str]
"""Document and path of an origin."""


@dataclass(slots=True)
class Column:
    """One format, the engine where engines are compared, and the result of the spec."""

    candidate: Candidate
    engine: str = ""
    compiled: Compiled | None = None
    error: SlipwayError | None = None
    rejected: list[Problem] = field(default_factory=list)
    trial: Trial = field(default_factory=Trial)
    fitted: Fitted | None = None

    @property
    def refusals(self) -> list[Problem]:
        """All that is not supported."""
        return [*self.rejected, *(self.compiled.refusals if self.compiled else [])]


class Row(NamedTuple):
    """A field, and every name that it is looked up by: they are the same in all columns, and made once.

    Attributes:
        use: the field.
        place: where the user wrote its item.
        enclosing: its path, and every path that it lies in.
        holders: its path, its item's, those of the messages that it is in, and its name in errors.
        named: its name in errors.
    """

    use: Use
    place: _Place | None
    enclosing: tuple[str, ...]
    holders: tuple[str, ...]
    named: str

    @classmethod
    def of(cls, use: Use) -> Self:
        """Look at a field."""
        outer, named = tuple(enclosing(use.path)), _named(use)
        return cls(use, _place_of(use), outer, (*_holders(use, outer), named), named)


class Verdicts:
    """The cells of a column. Make it when nothing of the column changes any more."""

    def __init__(self, column: Column) -> None:
        """Index a column."""
        compiled = column.compiled
        self._column = column
        self._refused = _problems(column.refusals)
        of_target = (problem for problem in column.refusals if problem.feature == Reason.UNSUPPORTED_TARGET)
        self._engine_refuses = next(of_target, None)
        self._omitted = _problems(compiled.omitted if compiled else [])
        lowered = compiled.lowered if compiled else []
        self._lowered = _ByField(((each.field_path, each.origin, each) for each in lowered), by_item=True)
        violations = column.error.violations if column.error else []
        self._violations = {person_field(violation.path): violation for violation in reversed(violations)}

    @property
    def names_fields(self) -> bool:
        """Whether its refusals are those of fields; else the whole of the spec cannot be judged."""
        return self._column.compiled is not None

    def cell(self, row: Row) -> bootstrappb.ExplainCell:
        """Say what became of a field."""
        use = row.use
        refusal = self._refused.find(row)
        if refusal is not None:
            return _refused_cell(refusal.reason, refusal.advice)
        if use.id == _ENGINE and self._engine_refuses is not None and self._column.candidate.takes_plan:
            # The format serves this operating system, or there would be no bundle: it is the engine that does not.
            return _refused_cell(self._engine_refuses.reason, self._engine_refuses.advice)
        error = self._column.error
        if self._column.compiled is None:
            if error is None:
                raise AssertionError("a format was neither compiled nor is it said why not")
            remedy = next((entry.remedy for entry in error.violations if entry.remedy), "")
            return _refused_cell(error.message, remedy or remedy_of_error(error))
        omitted = self._omitted.find(row)
        if omitted is not None:
            return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_OMITTED, reason=omitted.reason)
        violation = self._violations.get(row.named) if self._violations else None
        if violation is not None and error is not None:
            return _refused_cell(violation.description, violation.remedy or remedy_of_error(error))
        lowered = self._lowered.find(row)
        if lowered is not None:
            return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_LOWERED, into=lowered.into)
        if self._column.candidate.takes_plan and _is_executed(use):
            return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_LOWERED, into=["os.files", "plan.entrypoint"])
        return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_NATIVE)


class _ByField(Generic[T]):
    """Things by the fields that they are about: by path, or by the origin of an item. The first one counts.

    The path may also be the place where the user wrote the item, where nothing else is known.
    """

    def __init__(self, entries: Iterable[tuple[str, diagnosticpb.Origin, T]], *, by_item: bool = False) -> None:
        """Index triples of path, origin and thing. With `by_item`, paths count only where one side has no origin."""
        self._things: list[T] = []
        self._by_item = by_item
        self._by_path: dict[str, int] = {}
        self._without_place: dict[str, int] = {}
        self._by_place: dict[_Place, int] = {}
        for number, (path, origin, thing) in enumerate(entries):
            self._things.append(thing)
            self._by_path.setdefault(path, number)
            place = _place(origin)
            if place is None:
                self._without_place.setdefault(path, number)
            else:
                self._by_place.setdefault(place, number)

    def find(self, row: Row) -> T | None:
        if not self._things:
            return None
        place = row.place
        by_path = self._without_place if self._by_item and place is not None else self._by_path
        holders = row.enclosing if self._by_item else row.holders
        numbers = [by_path[path] for path in holders if path in by_path]
        if place is not None and place in self._by_place:
            numbers.append(self._by_place[place])
        return self._things[min(numbers)] if numbers else None


def _problems(problems: Iterable[Problem]) -> _ByField[Problem]:
    return _ByField((problem.path, problem.origin, problem) for problem in problems)


def _refused_cell(reason: str, remedy: str) -> bootstrappb.ExplainCell:
    return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_REFUSED, reason=reason, remedy=remedy)


def _is_executed(use: Use) -> bool:
    return use.id.startswith(ENGINE_NAMESPACES) or any(within(use.path, part) for part in _EXECUTED)


def _holders(use: Use, outer_paths: Iterable[str]) -> Iterator[str]:
    """Give the field's path, its item's, and those of the messages that it is in. A whole list is none of them."""
    yield use.path
    if use.item_path:
        yield use.item_path
    for outer in outer_paths:
        if use.path.startswith(f"{outer}."):
            yield outer


def _place(origin: diagnosticpb.Origin) -> _Place | None:
    return (origin.document, origin.path) if origin.path else None


def _place_of(use: Use) -> _Place | None:
    return _place(origin_of(use.item))


def _named(use: Use) -> str:
    """Name a field as errors do."""
    origin = origin_of(use.item)
    return describe(origin) if origin.path else spec_path(use.path)
