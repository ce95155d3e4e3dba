"""Lower a bundle until every feature in use is one that the format declares, as a compiler's back end legalises.

The same function serves GetUserData and explain: it never stops at the first refusal.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bootstrapper.field_index import by_outer, enclosing
from bootstrapper.lowering.dependencies import OWNED, dependents
from bootstrapper.lowering.draft import CannotLower, Draft, Elsewhere, Refusal
from bootstrapper.lowering.entry_unit import adopt_drop_ins
from bootstrapper.lowering.omission import not_taken, omit
from bootstrapper.lowering.optional_fields import OptionalUses, faults, spare
from bootstrapper.lowering.passes import Pass, PassTable
from bootstrapper.remedies import Supports, by_id, reason_of, remedy_of
from services.contract.errors import Violation
from services.contract.features import Unsupported, unsupported
from services.contract.walk import Item, items, take_all
from services.contract.yaml_names import person_path
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

FINISHED = ("plan.steps", "plan.entrypoint")
"""Features that stand for the execution itself. They are lowered last of all, by finish()."""

_MAX_ROUNDS = 32

_DEFAULT_USER = {
    ospb.DEFAULT_USER_KEEP: "os.default_user",
    ospb.DEFAULT_USER_OMIT: "os.default_user.omit",
}


@dataclass(slots=True)
class Legalised:
    """What became of a draft: refusals, and items that were left out because the spec allows it."""

    refusals: list[Refusal] = field(default_factory=list)
    omitted: list[Refusal] = field(default_factory=list)

    def copy(self) -> "Legalised":
        """Give what can be gone back to."""
        return Legalised(list(self.refusals), list(self.omitted))


@dataclass(slots=True)
class _Work:
    """One call of legalise()."""

    draft: Draft
    supports: Supports
    table: PassTable
    optional_features: frozenset[str]
    result: Legalised

    def give_up(  # the parts of a refusal
        self, item: Item, reason: str, *, remedy: str, feature: str = "", elsewhere: Elsewhere = Elsewhere.NOWHERE
    ) -> None:
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
        """Give a reason, and where things are lowered at all, that this one can not be."""
        return f"{reason}, and nothing simpler can stand for it" if self.draft.known_profile is not None else reason

    def refuse(self, refusal: Refusal) -> None:
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
            # An item without a feature of its own is more than what was refused in it: it can not be left out for that.
            if item.feature:
                self.refuse(refusal)
            else:
                self.result.refusals.append(refusal)


def legalise(
    draft: Draft,
    supports: Sequence[provisionerpb.FeatureSupport],
    *,
    table: PassTable,
    optional_features: Collection[str] = (),
    rejected: Mapping[str, Violation] | None = None,
) -> Legalised:
    """Lower the draft in place for a format that declares `supports`; all but the execution itself.

    Every item that is lowered or refused leaves the bundle.

    Args:
        draft: the draft; its bundle is changed.
        supports: features that the format declares.
        table: the passes.
        optional_features: features whose items may be left out when they can be neither taken nor lowered.
        rejected: bundle field paths of items that the provisioner has refused although it declares their features,
            each with what it said of it.
    """
    work = _Work(draft, by_id(supports), table, frozenset(optional_features), Legalised())
    _settle_default_user(work, work.supports)
    for refusal in list(adopt_drop_ins(draft, work.supports)):
        work.refuse(refusal)
    reasons = dict(rejected or {})
    for _ in range(_MAX_ROUNDS):
        wrong = [one for one in unsupported(draft.bundle, supports) if not one.use.id.startswith(FINISHED)]
        found = faults(draft.bundle, wrong, reasons, optional=work.optional_features, supports=work.supports)
        spared = spare(draft.bundle, found, work.optional_features, chosen=work.has_no_pass)
        if spared:
            reasons = work.leave_out(spared, reasons)
            continue
        affected = _affected(draft, wrong, reasons)
        if not affected:
            break
        before, known = draft.copy() if found else None, work.result.copy()
        given_up = _round(work, affected, wrong, reasons)
        if before is not None:
            spared = spare(before.bundle, found, work.optional_features, chosen=_one_of(given_up))
            if spared:
                # No pass can do them, but the format can, without what is optional in them: the round begins anew.
                draft.restore(before)
                work.result = known
                reasons = work.leave_out(spared, reasons)
                continue
        reasons = {}
        _drop_empty(draft)
    else:
        raise AssertionError("lowering does not end: the table of passes is not a DAG")
    omitted, wrong = omit(draft.bundle, wrong, work.optional_features, work.supports)
    work.result.omitted += omitted
    work.result.refusals += [not_taken(one, work.supports) for one in wrong]
    return work.result


def _one_of(paths: Collection[str]) -> Callable[[Item], bool]:
    return lambda item: item.path in paths


def _settle_default_user(work: _Work, declared: Collection[str]) -> None:
    """Take out a wish for the distribution's user that the format does not take; it is a plain value and no item.

    KEEP is what happens without anybody's help. OMIT is refused: after the first-boot system has made the user nobody
    can tell any more what belongs to it.
    """
    system = work.draft.bundle.os
    wanted = _DEFAULT_USER.get(system.default_user, _DEFAULT_USER[ospb.DEFAULT_USER_KEEP])
    if not system.HasField("default_user") or wanted in declared:
        return
    if system.default_user == ospb.DEFAULT_USER_OMIT:
        optional = not work.optional_features.isdisjoint({wanted, "os.default_user"})
        (work.result.omitted if optional else work.result.refusals).append(
            Refusal(
                wanted,
                "os.default_user",
                diagnosticpb.Origin(),
                work.in_vain(f"{wanted} is not supported"),
                "choose an image without that user, or leave it out",
                elsewhere=Elsewhere.FORMATS,
            )
        )
    system.ClearField("default_user")


def _round(work: _Work, affected: list[Item], wrong: list[Unsupported], rejected: Mapping[str, Violation]) -> set[str]:
    """Lower or refuse every affected item: each of them leaves the bundle, so the rounds come to an end.

    It gives the paths of the items that a pass has given up.
    """
    family = work.draft.target.os_family
    given_up: set[str] = set()
    known = OptionalUses(work.draft.bundle, work.optional_features)
    taken: dict[str, list[Item]] = {}
    # All leave the bundle before any pass runs: one that gives up sets the bundle back, which replaces all items in it.
    # What the user puts at a path comes first: a pass that would write there, too, must see it.
    for item in take_all(sorted(affected, key=lambda item: item.feature not in OWNED)):
        taken.setdefault(item.feature, []).append(item)
    wrong_in = by_outer((one.use.path, one) for one in wrong)
    rejected_in = by_outer((path, (path, one)) for path, one in rejected.items())
    for feature, group in taken.items():
        found = work.table.find(feature, family)
        if found is not None:
            given_up.update(_run(work, found, group, known))
        else:
            remedy = work.table.remedy(feature, family)
            for item in group:
                if item.path in rejected_in and item.path not in wrong_in:
                    work.pass_on(item, dict(rejected_in[item.path]), remedy)
                    continue
                _lack(work, item, wrong_in, remedy)
    work.draft.gone += [item for group in taken.values() for item in group]
    return given_up


def _run(work: _Work, one: Pass, group: list[Item], known: OptionalUses) -> Iterator[str]:
    """Run a pass, and again without what it can not do: optional fields of items, or items, whose paths are given."""
    draft, remaining = work.draft, group
    left_out: dict[int, list[Refusal]] = {}
    before = draft.copy()
    draft.forget_paths()
    while remaining:
        try:
            one.lower(remaining, draft)
        except CannotLower as cannot:
            draft.restore(before)
            given_up = set()
            for each in (cannot, *cannot.others):
                gone = known.without(each)
                if gone:
                    left_out.setdefault(id(each.item.message), []).extend(gone)
                    continue
                given_up.add(id(each.item.message))
                work.give_up(each.item, each.reason, remedy=each.remedy)
                yield each.item.path
            remaining = [item for item in remaining if id(item.message) not in given_up]
            continue
        work.result.omitted += [one for item in remaining for one in left_out.get(id(item.message), ())]
        into = sorted(_emitted(draft, before))
        draft.passes.append(one.id)
        draft.lowered += [
            bootstrappb.Lowered(feature=item.feature, field_path=item.path, origin=item.message.origin, into=into)
            for item in remaining
        ]
        return


def _emitted(draft: Draft, before: Draft) -> set[str]:
    more = _count(draft) - _count(before)
    found = set(more)
    if len(draft.staged) > len(before.staged):
        found.add("os.files")
    if len(draft.prepared) > len(before.prepared):
        found.add("plan.steps")
    return found


def _count(draft: Draft) -> Counter[str]:
    return Counter(item.feature for item in items(draft.bundle) if item.feature)


def _affected(draft: Draft, wrong: list[Unsupported], rejected: Collection[str]) -> list[Item]:
    """Give the items to be lowered now: those with unsupported uses, rejected ones, and whatever depends on them."""
    paths = {one.use.item_path for one in wrong if one.use.item is not None} | set(rejected)
    holders = {outer for path in paths for outer in enclosing(path)}
    present = [item for item in items(draft.bundle) if not item.feature.startswith(FINISHED)]
    chosen = [item for item in present if item.path in holders]
    remaining = [item for item in present if item.path not in holders]
    news: list[Item] = [*chosen, *draft.gone]
    while news:
        # Only what is new can bring more along: what depends on the earlier ones has come already.
        news = dependents(news, remaining)
        taken = {item.path for item in news}
        remaining = [item for item in remaining if item.path not in taken]
        chosen += news
    return chosen


def _lack(work: _Work, item: Item, wrong_in: Mapping[str, list[Unsupported]], remedy: str) -> None:
    """Give up an item that the format does not take and no pass lowers; `wrong_in` is by outer path."""
    found = list(_apart(wrong_in.get(item.path, ())))
    inside = [one for one in found if one.use.id not in work.optional_features] or found
    # Left out as a whole, an item is told of once.
    for one in inside[:1] if item.feature in work.optional_features else inside:
        whole = one.use.path == item.path and one.use.id not in work.supports
        do = remedy if whole and remedy else remedy_of(one.use, work.supports, item_path=item.path)
        work.give_up(item, work.in_vain(reason_of(one)), remedy=do, feature=one.use.id, elsewhere=Elsewhere.FORMATS)
    if inside:
        return
    why = work.in_vain("it depends on something that the format does not take")
    do = f"change what it depends on first, or {remedy or 'leave both out'}"
    work.give_up(item, why, remedy=do, elsewhere=Elsewhere.FORMATS)


def _apart(wrong: Iterable[Unsupported]) -> Iterator[Unsupported]:
    """Give uses of different features, those that lie in none of the others."""
    paths: set[str] = set()
    ids: set[str] = set()
    for one in wrong:
        if one.use.id not in ids and not any(outer in paths for outer in enclosing(one.use.path)):
            yield one
        paths.add(one.use.path)
        ids.add(one.use.id)


def _drop_empty(draft: Draft) -> None:
    """Clear messages that only held items which are gone, so that they use no feature any more."""
    if draft.bundle.HasField("commands") and not draft.bundle.commands.ListFields():
        draft.bundle.ClearField("commands")
