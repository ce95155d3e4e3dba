"""Takes optional fields out of items, so that the rest of an item is native, or can be lowered.

An item is taken, lowered or refused as a whole. Where only fields of it stand in the way, and the spec lists their
features in `optional_features`, they are left out rather than the machine refused; whoever found out that nobody can do
them: what the format declares, the provisioner itself, or a pass.
"""

from collections.abc import Callable, Collection, Iterable, Mapping

from google.protobuf.message import Message

from slipway.bootstrapper.field_index import by_outer
from slipway.bootstrapper.lowering.draft import CannotLower
from slipway.bootstrapper.lowering.omission import not_taken, take_all_out, take_out
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.errors import Violation
from slipway.contract.feature_uses import Use, uses
from slipway.contract.features import Supports, Unsupported
from slipway.contract.items import Item, items, origin_of
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import spec_pb2 as specpb

EXTENSION = "ext."
"""With it begin the features of extensions."""

_LEAVE_OUT = "leave it out"

ByPath = Mapping[str, list[Problem]]
"""What keeps items from being native, under every path that it lies in."""


def faults(
    message: Message,
    wrong: Iterable[Unsupported],
    rejected: Mapping[str, Violation],
    *,
    optional: Collection[str],
    supports: Supports,
) -> ByPath:
    """Give what keeps items from being native, for spare(); nothing where nothing is optional.

    A provisioner may name any field: one that has not the feature it names counts as the whole item.
    """
    if not optional:
        return {}
    faults_by_path = [(entry.use.path, not_taken(entry, supports)) for entry in wrong]
    known = {use.path: use for use in uses(message) if use.id in optional} if rejected else {}
    for path, violation in rejected.items():
        use = known.get(path)
        if use is not None and use.id == violation.feature:
            faults_by_path.append((path, _of_use(use, violation.description, violation.remedy)))
        else:
            faults_by_path.append((path, Problem("", path, "", _LEAVE_OUT)))
    return by_outer(faults_by_path)


def spare(
    message: Message, faults_by_path: ByPath, optional: Collection[str], *, chosen: Callable[[Item], bool]
) -> list[Problem]:
    """Take the fields out of chosen items where all that is wrong in an item is optional; give what was taken out."""
    gone: list[Problem] = []
    for item in items(message) if faults_by_path else ():
        inside = faults_by_path.get(item.path, [])
        whole = isinstance(item.message, specpb.Extension) or any(entry.path == item.path for entry in inside)
        if not inside or whole or any(entry.feature not in optional for entry in inside) or not chosen(item):
            continue
        take_all_out(item.message, (entry.path[len(item.path) :] for entry in inside))
        # A field that the format does not declare may be refused by the provisioner besides: it is reported once.
        reported: dict[tuple[str, str], Problem] = {}
        for entry in inside:
            reported.setdefault((entry.path, entry.feature), entry)
        gone += reported.values()
    return gone


class OptionalUses:
    """Where items of a bundle use optional features; made before the items are taken out of it."""

    def __init__(self, message: Message, optional: Collection[str]) -> None:
        """Look at the bundle, if anything is optional at all."""
        optional_uses = (use for use in uses(message) if use.id in optional) if optional else ()
        self._by_outer = by_outer((use.path, use) for use in optional_uses)

    def without(self, cannot: CannotLower) -> list[Problem]:
        """Take the fields that a pass cannot do out of its item, if all are optional; give what was taken out."""
        item = cannot.item
        chosen: list[Use] = []
        for name in cannot.fields:
            field = f"{item.path}.{name}"
            inside = self._by_outer.get(field, [])
            own = [use for use in inside if use.path == field or use.path.startswith(f"{field}[")]
            if not own:
                return []
            chosen += own
        gone = [use for use in reversed(chosen) if take_out(item.message, use.path[len(item.path) :])]
        return [_of_use(use, cannot.problem.reason, cannot.problem.advice) for use in reversed(gone)]


def _of_use(use: Use, reason: str, remedy: str) -> Problem:
    origin = diagnosticpb.Origin()
    origin.CopyFrom(origin_of(use.item))
    return Problem(use.id, use.path, reason, remedy or _LEAVE_OUT, origin)
