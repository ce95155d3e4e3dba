"""What became of each field of a spec in one format, found by look-ups.

Explain asks this for every field and every format. The fields may be thousands, and so may the refusals and what was
lowered: nothing is searched for.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.compilation import ENGINE_NAMESPACES, Compiled
from slipway.bootstrapper.delivery.fitting import Fitted
from slipway.bootstrapper.field_index import enclosing
from slipway.bootstrapper.lowering.draft import Refusal
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.refusals import bare_place, person_field
from slipway.bootstrapper.remedies import remedy_of_error
from slipway.bootstrapper.trial import Trial
from slipway.contract.errors import SlipwayError
from slipway.contract.walk import Use, origin_of
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

_Place = tuple[str, str]
"""Document and path of an origin."""


@dataclass(slots=True)
class Column:
    """One format, the engine where engines are compared, and the result of the spec."""

    candidate: Candidate
    engine: str = ""
    compiled: Compiled | None = None
    error: SlipwayError | None = None
    rejected: list[Refusal] = field(default_factory=list)
    trial: Trial = field(default_factory=Trial)
    fitted: Fitted | None = None

    @property
    def refusals(self) -> list[Refusal]:
        """All that cannot be honoured."""
        return [*self.rejected, *(self.compiled.refusals if self.compiled else [])]


class Verdicts:
    """The cells of a column. Make it when nothing of the column changes any more."""

    def __init__(self, column: Column) -> None:
        """Index a column."""
        compiled = column.compiled
        self._column = column
        self._refused = _Refused(column.refusals)
        self._omitted = _Refused(compiled.omitted if compiled else [])
        self._lowered = _Lowered(compiled.lowered if compiled else [])
        violations = column.error.violations if column.error else []
        self._violations = {person_field(one.path): one for one in reversed(violations)}

    @property
    def names_fields(self) -> bool:
        """Whether its refusals are those of fields; else the whole of the spec cannot be judged."""
        return self._column.compiled is not None

    def cell(self, use: Use) -> bootstrappb.ExplainCell:
        """Say what became of a field."""
        refusal = self._refused.find(use)
        if refusal is not None:
            return _refused_cell(refusal.reason, refusal.remedy)
        error = self._column.error
        if self._column.compiled is None:
            if error is None:
                raise AssertionError("a format was neither compiled nor is it said why not")
            told = next((one.remedy for one in error.violations if one.remedy), "")
            return _refused_cell(error.message, told or remedy_of_error(error))
        omitted = self._omitted.find(use)
        if omitted is not None:
            return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_OMITTED, reason=omitted.reason)
        violation = self._violations.get(_named(use)) if self._violations else None
        if violation is not None and error is not None:
            return _refused_cell(violation.description, violation.remedy or remedy_of_error(error))
        lowered = self._lowered.find(use)
        if lowered is not None:
            return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_LOWERED, into=lowered.into)
        if self._column.candidate.takes_plan and _is_executed(use):
            return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_LOWERED, into=["os.files", "plan.entrypoint"])
        return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_NATIVE)


class _Refused:
    """Refusals by the fields that they speak of: by path, or by the origin of an item. The first one counts.

    Who refuses may also know no field but the place where the user wrote the item.
    """

    def __init__(self, refusals: Iterable[Refusal]) -> None:
        self._refusals = list(refusals)
        self._by_path: dict[str, int] = {}
        self._by_place: dict[_Place, int] = {}
        for number, one in enumerate(self._refusals):
            self._by_path.setdefault(one.path, number)
            place = _place(one.origin)
            if place is not None:
                self._by_place.setdefault(place, number)

    def find(self, use: Use) -> Refusal | None:
        if not self._refusals:
            return None
        found = [self._by_path[path] for path in (*_holders(use), _named(use)) if path in self._by_path]
        place = _place_of(use)
        if place is not None and place in self._by_place:
            found.append(self._by_place[place])
        return self._refusals[min(found)] if found else None


class _Lowered:
    """What was lowered, by origin where both sides know one, else by path."""

    def __init__(self, lowered: Iterable[bootstrappb.Lowered]) -> None:
        self._lowered = list(lowered)
        self._by_place: dict[_Place, int] = {}
        self._by_path: dict[str, int] = {}
        self._placeless: dict[str, int] = {}
        for number, one in enumerate(self._lowered):
            self._by_path.setdefault(one.field_path, number)
            place = _place(one.origin)
            if place is None:
                self._placeless.setdefault(one.field_path, number)
            else:
                self._by_place.setdefault(place, number)

    def find(self, use: Use) -> bootstrappb.Lowered | None:
        place = _place_of(use)
        by_path = self._by_path if place is None else self._placeless
        found = [by_path[path] for path in enclosing(use.path) if path in by_path]
        if place is not None and place in self._by_place:
            found.append(self._by_place[place])
        return self._lowered[min(found)] if found else None


def _refused_cell(reason: str, remedy: str) -> bootstrappb.ExplainCell:
    return bootstrappb.ExplainCell(verdict=bootstrappb.VERDICT_REFUSED, reason=reason, remedy=remedy)


def _is_executed(use: Use) -> bool:
    return use.id.startswith(ENGINE_NAMESPACES) or use.path.startswith(("commands.p", "plan."))


def _holders(use: Use) -> Iterator[str]:
    """Give the field's path, its item's, and those of the messages that it is in. A whole list is none of them."""
    yield use.path
    if use.item_path:
        yield use.item_path
    for outer in enclosing(use.path):
        if use.path.startswith(f"{outer}."):
            yield outer


def _place(origin: diagnosticpb.Origin) -> _Place | None:
    return (origin.document, origin.path) if origin.path else None


def _place_of(use: Use) -> _Place | None:
    return _place(origin_of(use.item))


def _named(use: Use) -> str:
    """Name a field as errors do."""
    origin = origin_of(use.item)
    return describe(origin) if origin.path else bare_place(use.path)
