"""One round of lowering: everything that a format does not take, or that depends on it, leaves the bundle.

What the passes emit for it may have to be lowered in turn, by the next round.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from slipway.bootstrapper.field_index import by_outer, enclosing
from slipway.bootstrapper.lowering.dependencies import OWNED
from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.optional_fields import OptionalUses
from slipway.bootstrapper.lowering.passes import Pass
from slipway.bootstrapper.lowering.work import Work
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.problems.remedies import is_kept, reason_of, remedy_of
from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.contract.features import Unsupported
from slipway.contract.items import Item, items, take_all
from slipway.rpc.spans import span
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb


def lower_round(
    work: Work, affected: list[Item], wrong: list[Unsupported], rejected: Mapping[str, Violation]
) -> set[str]:
    """Lower or refuse every affected item: each of them leaves the bundle, so the rounds come to an end.

    It gives the paths of the items that a pass has given up.
    """
    family = work.draft.target.os_family
    given_up: set[str] = set()
    known = OptionalUses(work.draft.bundle, work.optional_features)
    groups: dict[str, list[Item]] = {}
    # All leave the bundle before any pass runs: one that gives up sets the bundle back, which replaces all items in it.
    # What the user puts at a path comes first: a pass that would write there, too, must see it.
    for item in take_all(sorted(affected, key=lambda item: item.feature not in OWNED)):
        groups.setdefault(item.feature, []).append(item)
    work.draft.gone += [item for group in groups.values() for item in group]
    wrong_in = by_outer((entry.use.path, entry) for entry in wrong)
    rejected_in = by_outer((path, (path, entry)) for path, entry in rejected.items())
    for feature, group in groups.items():
        pass_ = work.table.find(feature, family)
        if pass_ is not None:
            given_up.update(_run(work, pass_, group, known))
        else:
            remedy = work.table.remedy(feature, family)
            for item in group:
                if item.path in rejected_in and item.path not in wrong_in:
                    work.pass_on(item, dict(rejected_in[item.path]), remedy)
                    continue
                _lack(work, item, wrong_in, remedy)
    return given_up


def _run(work: Work, pass_: Pass, group: list[Item], known: OptionalUses) -> Iterator[str]:
    """Run a pass, and again without what it cannot do: optional fields of items, or items, whose paths are given."""
    draft, remaining = work.draft, group
    left_out: dict[int, list[Problem]] = {}
    before = draft.copy()
    draft.forget_paths()
    while remaining:
        try:
            with span("lower", {"pass": pass_.id}):
                pass_.lower(remaining, draft)
        except UnsupportedTarget as unknown:
            draft.restore(before)
            for item in remaining:
                _lacks_profile(work, item, unknown)
                yield item.path
            return
        except CannotLower as cannot:
            draft.restore(before)
            given_up = set()
            for each in (cannot, *cannot.others):
                gone = known.without(each)
                if gone:
                    left_out.setdefault(id(each.item.message), []).extend(gone)
                    continue
                given_up.add(id(each.item.message))
                work.refuse(each.problem)
                yield each.item.path
            remaining = [item for item in remaining if id(item.message) not in given_up]
            continue
        work.result.omitted += [entry for item in remaining for entry in left_out.get(id(item.message), ())]
        into = sorted(_emitted(draft, before))
        draft.passes.append(pass_.id)
        draft.lowered += [
            bootstrappb.Lowered(feature=item.feature, field_path=item.path, origin=item.message.origin, into=into)
            for item in remaining
        ]
        return


def _lacks_profile(work: Work, item: Item, unknown: UnsupportedTarget) -> None:
    """Give up an item whose pass has to know the distribution, where no profile does."""
    for each in unknown.violations:
        why = f"it is lowered by the machine's OS profile, and {each.path} {each.description}"
        work.give_up(item, why, remedy=each.remedy)


def _emitted(draft: Draft, before: Draft) -> set[str]:
    more = _count(draft) - _count(before)
    features = set(more)
    if len(draft.staged) > len(before.staged):
        features.add("os.files")
    if len(draft.prepared) > len(before.prepared):
        features.add("plan.steps")
    return features


def _count(draft: Draft) -> Counter[str]:
    return Counter(item.feature for item in items(draft.bundle) if item.feature)


def _lack(work: Work, item: Item, wrong_in: Mapping[str, list[Unsupported]], remedy: str) -> None:
    """Give up an item that the format does not take and no pass lowers; `wrong_in` is by outer path."""
    lacking = list(_apart(wrong_in.get(item.path, ())))
    inside = [entry for entry in lacking if entry.use.id not in work.optional_features] or lacking
    # Left out as a whole, an item is reported once.
    for entry in inside[:1] if item.feature in work.optional_features else inside:
        whole = entry.use.path == item.path and entry.use.id not in work.supports
        do = remedy if whole and remedy else remedy_of(entry.use, work.supports, item_path=item.path)
        why = reason_of(entry) if is_kept(entry.use) else work.in_vain(reason_of(entry))
        work.give_up(item, why, remedy=do, part=entry.use.id)
    if inside:
        return
    why = work.in_vain("it depends on something that the format does not take")
    do = f"change what it depends on first, or {remedy or 'leave both out'}"
    work.give_up(item, why, remedy=do)


def _apart(wrong: Iterable[Unsupported]) -> Iterator[Unsupported]:
    """Give uses of different features, those that lie in none of the others."""
    paths: set[str] = set()
    ids: set[str] = set()
    for entry in wrong:
        if entry.use.id not in ids and paths.isdisjoint(enclosing(entry.use.path) if paths else ()):
            yield entry
        paths.add(entry.use.path)
        ids.add(entry.use.id)
