"""The items of a message: the units that are taken, lowered or refused as a whole, and where they stand."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import is_item, join_feature, plan
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb


def origin_of(item: Message | None) -> diagnosticpb.Origin:
    """Give where an item was written: its own field, to be changed or copied; an empty one of no item."""
    if item is None:
        return diagnosticpb.Origin()
    origin: diagnosticpb.Origin = getattr(item, "origin")  # noqa: B009  # is_item() says that it is there
    return origin


class Item(NamedTuple):
    """An item and the place that holds it, so that it can be taken out.

    A tuple, since a walk through a large bundle makes thousands.

    Attributes:
        feature: id of the field that holds it, e.g. "os.sysctls"; "" when the field has none.
        path: field path from the root.
        message: the item.
        holder: the message that has the field.
        field: the field's name.
        repeated: the field is a list.
    """

    feature: str
    path: str
    message: Any
    holder: Message
    field: str
    repeated: bool

    def take(self) -> "Item":
        """Take the item out of its holder and give a copy that stands alone. Paths of later entries change."""
        (copy,) = take_all([self])
        return copy


def take_all(chosen: Sequence[Item]) -> list[Item]:
    """Take items out of their holders and give copies that stand alone, in the order given.

    Each list is gone through once, however many are taken out of it. Paths of later entries change.
    """
    copies: list[Item] = []
    lists: dict[tuple[int, str], list[Item]] = {}
    for item in chosen:
        copy = type(item.message)()
        copy.CopyFrom(item.message)
        copies.append(item._replace(message=copy))
        if item.repeated:
            lists.setdefault((id(item.holder), item.field), []).append(item)
        else:
            item.holder.ClearField(item.field)
    for group in lists.values():
        _remove(getattr(group[0].holder, group[0].field), {id(item.message) for item in group})
    return copies


def _remove(entries: Any, gone: set[int]) -> None:
    """Remove messages from a list by their identity; the later ones first: what is before them keeps its place."""
    indices = [index for index, entry in enumerate(entries) if id(entry) in gone]
    if len(indices) != len(gone):
        raise AssertionError("the item is not in its list")
    for index in reversed(indices):
        del entries[index]


def items(message: Message) -> Iterator[Item]:
    """Give the outermost items of `message`, in the order of the fields."""
    collected: list[Item] = []
    _collect(message, _walk(message.DESCRIPTOR), "", "", collected)
    return iter(collected)


def within(path: str, outer: str) -> bool:
    """Return whether a field path is `outer` or lies in it."""
    return path == outer or path.startswith((outer + ".", outer + "["))


def path_in_item(path: str, descriptor: Descriptor) -> str:
    """Give the end of a field path that lies within the innermost item on it, with the dot in front; "" for none.

    Args:
        path: field path in a message.
        descriptor: the message's type.
    """
    holder: Descriptor | None = descriptor
    inner, inside = "", False
    for part in path.split(".") if path else ():
        field = holder.fields_by_name.get(part.partition("[")[0]) if holder is not None else None
        if field is None:
            return ""
        inner, holder = f"{inner}.{part}", field.message_type
        if holder is not None and is_item(holder):
            inner, inside = "", True
    return inner if inside else ""


class _Step(NamedTuple):
    """What the walk for items needs to know of one field that holds messages."""

    name: str
    repeated: bool
    feature: str
    holds_items: bool
    message: Descriptor


@cache
def _walk(descriptor: Descriptor) -> dict[int, _Step]:
    """Compile the fields of a message type, by number."""
    return {
        number: _Step(field.name, field.repeated, field.feature, is_item(field.message), field.message)
        for number, field in plan(descriptor).items()
        if field.message is not None
    }


def _collect(message: Message, steps: dict[int, _Step], above: str, path: str, into: list[Item]) -> None:
    """Add the outermost items; to a list, since generators would hand each up through every level."""
    for descriptor, value in message.ListFields():
        step = steps.get(descriptor.number)
        if step is None:
            continue
        name, repeated, feature, holds_items, type_ = step
        own = join_feature(feature, above)
        place = f"{path}.{name}" if path else name
        if holds_items:
            if repeated:
                into.extend(
                    Item(own, f"{place}[{index}]", entry, message, name, True) for index, entry in enumerate(value)
                )
            else:
                into.append(Item(own, place, value, message, name, repeated=False))
            continue
        inner = _walk(type_)
        for index, entry in enumerate(value) if repeated else ((-1, value),):
            _collect(entry, inner, own or above, f"{place}[{index}]" if repeated else place, into)
