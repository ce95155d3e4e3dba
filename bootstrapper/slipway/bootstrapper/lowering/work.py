"""What one call of legalise() works on, and what has become of it so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slipway.bootstrapper.lowering.draft import Draft, Elsewhere, Refusal
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.contract.errors import Violation
from slipway.contract.features import Supports
from slipway.contract.walk import Item
from slipway.contract.yaml_names import person_path


@dataclass(slots=True)
class Legalised:
    """What became of a draft: refusals, and items that were left out because the spec allows it."""

    refusals: list[Refusal] = field(default_factory=list)
    omitted: list[Refusal] = field(default_factory=list)

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

    def give_up(  # the parts of a refusal
        self, item: Item, reason: str, *, remedy: str, feature: str = "", elsewhere: Elsewhere = Elsewhere.NOWHERE
    ) -> None:
        """Refuse an item."""
        name = item.feature or feature or item.path
        self.refuse(Refusal(name, item.path, item.message.origin, reason, remedy, elsewhere))

    def has_no_pass(self, item: Item) -> bool:
        """Tell whether nothing can lower an item."""
        return self.table.find(item.feature, self.draft.target.os_family) is None

    def leave_out(self, spared: Sequence[Refusal], rejected: Mapping[str, Violation]) -> dict[str, Violation]:
        """Note what was left out of items; give what of `rejected` is still there."""
        self.result.omitted += spared
        gone = {one.path for one in spared}
        return {path: one for path, one in rejected.items() if path not in gone}

    def in_vain(self, reason: str) -> str:
        """Give a reason, and where things are lowered at all, that this one cannot be."""
        return f"{reason}, and no lowering exists" if self.draft.known_profile is not None else reason

    def refuse(self, refusal: Refusal) -> None:
        """Note a refusal, or what was left out where its feature is optional."""
        optional = refusal.feature in self.optional_features
        (self.result.omitted if optional else self.result.refusals).append(refusal)

    def pass_on(self, item: Item, said: Mapping[str, Violation], otherwise: str) -> None:
        """Refuse an item for all that the provisioner has said of it; `said` is by field path."""
        for path, one in said.items():
            inner = person_path(path[len(item.path) :].removeprefix("."))
            why = self.in_vain(f"{inner} {one.description}".lstrip())
            name = item.feature or one.feature or item.path
            remedy = one.remedy or otherwise or f"change {inner or 'it'}, or leave it out"
            refusal = Refusal(name, item.path, item.message.origin, why, remedy, Elsewhere.FORMATS)
            # An item without a feature of its own is more than what was refused in it: it cannot be left out for that.
            if item.feature:
                self.refuse(refusal)
            else:
                self.result.refusals.append(refusal)
