"""Lower a bundle until every feature in use is one that the format declares, as a compiler's back end legalises.

The same function serves GetUserData and explain: it never stops at the first refusal.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from slipway.bootstrapper.field_index import enclosing
from slipway.bootstrapper.lowering.dependencies import dependents
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.entry_unit import adopt_drop_ins
from slipway.bootstrapper.lowering.omission import not_taken, omit
from slipway.bootstrapper.lowering.optional_fields import faults, spare
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.lowering.rounds import lower_round
from slipway.bootstrapper.lowering.work import Legalised, Work
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.errors import Violation
from slipway.contract.features import Unsupported, by_id, unsupported
from slipway.contract.items import Item, items
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

FINISHED = ("plan.steps", "plan.entrypoint")
"""Features, and the fields that have them, that stand for the execution itself. They are lowered last, by finish()."""

_MAX_ROUNDS = 32

_DEFAULT_USER = {
    ospb.DEFAULT_USER_KEEP: "os.default_user",
    ospb.DEFAULT_USER_OMIT: "os.default_user.omit",
}


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
    work = Work(draft, by_id(supports), table, frozenset(optional_features), Legalised())
    _settle_default_user(work, work.supports)
    for refusal in list(adopt_drop_ins(draft, work.supports)):
        work.refuse(refusal)
    reasons = dict(rejected or {})
    for _ in range(_MAX_ROUNDS):
        wrong = [entry for entry in unsupported(draft.bundle, work.supports) if not entry.use.path.startswith(FINISHED)]
        faults_by_path = faults(draft.bundle, wrong, reasons, optional=work.optional_features, supports=work.supports)
        spared = spare(draft.bundle, faults_by_path, work.optional_features, chosen=work.has_no_pass)
        if spared:
            reasons = work.leave_out(spared, reasons)
            continue
        affected = _affected(draft, wrong, reasons)
        if not affected:
            break
        before, known = draft.copy() if faults_by_path else None, work.result.copy()
        given_up = lower_round(work, affected, wrong, reasons)
        if before is not None:
            spared = spare(before.bundle, faults_by_path, work.optional_features, chosen=_one_of(given_up))
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
    work.result.refusals += [not_taken(entry, work.supports) for entry in wrong]
    return work.result


def _one_of(paths: Collection[str]) -> Callable[[Item], bool]:
    return lambda item: item.path in paths


def _affected(draft: Draft, wrong: list[Unsupported], rejected: Collection[str]) -> list[Item]:
    """Give the items to be lowered now: those with unsupported uses, rejected ones, and whatever depends on them."""
    paths = {entry.use.item_path for entry in wrong if entry.use.item is not None} | set(rejected)
    holders = {outer for path in paths for outer in enclosing(path)}
    present = [item for item in items(draft.bundle) if not item.feature.startswith(FINISHED)]
    chosen = [item for item in present if item.path in holders]
    remaining = [item for item in present if item.path not in holders]
    affected: list[Item] = [*chosen, *draft.gone]
    while affected:
        # Only what is new can bring more along: what depends on the earlier ones has come already.
        affected = dependents(affected, remaining)
        affected_paths = {item.path for item in affected}
        remaining = [item for item in remaining if item.path not in affected_paths]
    # In the bundle's order: what is put behind a file comes after it, whichever of the two brought the other along.
    remaining_paths = {item.path for item in remaining}
    return [item for item in present if item.path not in remaining_paths]


def _drop_empty(draft: Draft) -> None:
    """Clear messages that only held items which are gone, so that they use no feature any more."""
    if draft.bundle.HasField("commands") and not draft.bundle.commands.ListFields():
        draft.bundle.ClearField("commands")


def _settle_default_user(work: Work, declared: Collection[str]) -> None:
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
            Problem(
                wanted,
                "os.default_user",
                work.in_vain(f"{wanted} is not supported"),
                "choose an image without that user, or leave it out",
                other_formats=True,
            )
        )
    system.ClearField("default_user")
