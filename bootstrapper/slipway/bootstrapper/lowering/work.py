"""What one call of legalise() works on, and the result so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.errors import Violation
from slipway.contract.features import Supports
from slipway.contract.items import Item
from slipway.contract.yaml_names import person_path


@dataclass(slots=True)
class Legalised:
    """The result for a draft: refusals, and items that were left out because the spec allows it."""

    refusals: list[Problem] = field(default_factory=list)
    omitted: list[Problem] = field(default_factory=list)

    def copy(self) -> "Legalised":
        """Give what can be gone back to."""
        return Legalised(list(self.refusals), list(self.omitted))


@dataclass(slots=True)
class Work:
    """A draft that is lowered for a format, and all that is refused or left out on the way."""

    draft: Draft
    supports: Supports
    table: PassTable
    optional_features: frozenset[str]
    result: Legalised

    def give_up(self, item: Item, reason: str, *, remedy: str, part: str = "") -> None:
        """Refuse an item that another format may take, for a feature in it."""
        name = item.feature or part or item.path
        origin = item.message.origin
        self.refuse(Problem(name, item.path, reason, remedy, origin, part=part, other_formats=True))

    def has_no_pass(self, item: Item) -> bool:
        """Return whether nothing can lower an item."""
        return self.table.find(item.feature, self.draft.target.os_family) is None

    def leave_out(self, spared: Sequence[Problem], rejected: Mapping[str, Violation]) -> dict[str, Violation]:
        """Note what was left out of items; give what of `rejected` is still there."""
        self.result.omitted += spared
        gone = {entry.path for entry in spared}
        return {path: entry for path, entry in rejected.items() if path not in gone}

    def in_vain(self, reason: str) -> str:
        """Give a reason, and where things are lowered at all, that this one cannot be."""
        return f"{reason}, and no lowering exists" if self.draft.known_profile is not None else reason

    def refuse(self, problem: Problem) -> None:
        """Note a refusal, or what was left out where its feature is optional."""
        optional = problem.feature in self.optional_features
        (self.result.omitted if optional else self.result.refusals).append(problem)

    def pass_on(self, item: Item, violations: Mapping[str, Violation], otherwise: str) -> None:
        """Refuse an item for all that the provisioner has said of it; `said` is by field path."""
        for path, entry in violations.items():
            inner = person_path(path[len(item.path) :].removeprefix("."))
            why = self.in_vain(entry.description)
            name = item.feature or entry.feature or item.path
            remedy = entry.remedy or otherwise or f"change {inner or 'it'}, or leave it out"
            origin = item.message.origin
            problem = Problem(name, item.path, why, remedy, origin, field=inner, part=entry.feature, other_formats=True)
            # An item without a feature of its own is more than what was refused in it: it cannot be left out for that.
            if item.feature:
                self.refuse(problem)
            else:
                self.result.refusals.append(problem)
