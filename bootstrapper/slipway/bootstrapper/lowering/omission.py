"""Leaves out what is not supported and the spec says may be left out.

A spec lists such features in `optional_features`. What is left out is always reported: as a warning in the answer, as a
verdict of explain.
"""

import re
from collections.abc import Collection, Iterable, Sequence

from google.protobuf.message import Message

from slipway.bootstrapper.field_index import enclosing
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.problems.remedies import reason_of, remedy_of
from slipway.contract.features import Supports, Unsupported
from slipway.contract.items import origin_of, within
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb

SPEC_FIELDS = ("commands", "engine_options", "extensions", "intent.kubernetes", "os")
"""Fields of a bundle that come from the spec. The others are facts of machine and cluster: they are never left out."""

_PART = re.compile(r"\.?([a-z0-9_]+)(?:\[(\d+)\])?")


def omit(
    bundle: bundlepb.BootstrapBundle, wrong: Sequence[Unsupported], optional: Collection[str], supports: Supports
) -> tuple[list[Problem], list[Unsupported]]:
    """Take out the fields whose features are optional; give what was taken out, and the uses that are still wrong."""
    chosen = [entry for entry in wrong if entry.use.id in optional and _of_spec(entry.use.path)]
    paths = {entry.use.path for entry in chosen}
    rest = [entry for entry in wrong if not any(within(entry.use.path, path) for path in paths)]
    take_all_out(bundle, paths)
    return [not_taken(entry, supports) for entry in chosen], rest


def not_taken(entry: Unsupported, supports: Supports) -> Problem:
    """Say of a use why it is not supported, and what to do."""
    origin = diagnosticpb.Origin()
    origin.CopyFrom(origin_of(entry.use.item))
    remedy = remedy_of(entry.use, supports)
    return Problem(entry.use.id, entry.use.path, reason_of(entry), remedy, origin, other_formats=True)


def take_all_out(message: Message, paths: Iterable[str]) -> None:
    """Take out what field paths name, in any order and however often; what lies in another goes with it."""
    wanted = set(paths)
    outermost = [path for path in wanted if not any(entry in wanted for entry in enclosing(path) if entry != path)]
    # The later ones first: what is before them keeps its place.
    for path in sorted(outermost, key=_position, reverse=True):
        take_out(message, path)


def _position(path: str) -> list[tuple[str, int]]:
    return [(name, int(index or 0)) for name, index in _PART.findall(path)]


def take_out(message: Message, path: str) -> bool:
    """Clear the field, or remove the entry of a list, that a field path names; return whether it was there."""
    *above, (name, index) = _PART.findall(path)
    holder = message
    for outer, number in above:
        if outer not in holder.DESCRIPTOR.fields_by_name:
            return False
        value = getattr(holder, outer)
        if number and int(number) >= len(value):
            return False
        holder = value[int(number)] if number else value
    if name not in {field.name for field, _ in holder.ListFields()}:
        return False
    if not index:
        holder.ClearField(name)
    elif int(index) < len(getattr(holder, name)):
        del getattr(holder, name)[int(index)]
    else:
        return False
    return True


def _of_spec(path: str) -> bool:
    return any(within(path, field) for field in SPEC_FIELDS) and path not in SPEC_FIELDS
