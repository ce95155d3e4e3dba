"""Walk what is set in a message, as the descriptors tell.

The features of a bundle, its validation, its redaction and its origins all come from the same walk, so a field that is
added to the contract is covered by all of them on the day it is added. What a walk needs to know of a message type is
compiled once and kept, because the walk runs on every render.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import options_pb2 as optionspb

ORIGIN = "slipway.v1alpha1.Origin"


@dataclass(frozen=True, slots=True)
class FieldPlan:
    """What a walk knows of one field."""

    name: str
    repeated: bool
    feature: str
    feature_from_value: str
    value_features: dict[int, str]
    message: Descriptor | None
    enum: EnumDescriptor | None
    below: bool
    rules: optionspb.FieldRules
    redact: bool

    def own_id(self, above: str) -> str:
        """Give the feature id of this field below the id `above`, or "" when it has none of its own."""
        return _join(self.feature, above)


class Use(NamedTuple):
    """One use of a feature: where, by which value, and in which item.

    `enum` is the enum that a value is of, which is then its number.
    """

    id: str
    path: str
    value: Any
    item: Message | None
    item_path: str
    enum: EnumDescriptor | None = None


@cache
def plan(descriptor: Descriptor) -> dict[int, FieldPlan]:
    """Compile what a walk needs to know of a message type, by field number."""
    return {field.number: _field_plan(field) for field in descriptor.fields}


@cache
def is_item(descriptor: Descriptor) -> bool:
    """Tell whether messages of this type are items: units that are taken, lowered or refused as a whole."""
    origin = descriptor.fields_by_name.get("origin")
    return origin is not None and origin.message_type is not None and origin.message_type.full_name == ORIGIN


@cache
def holders_of(descriptor: Descriptor, name: str) -> frozenset[int]:
    """Give the numbers of the fields in which a message of the type `name` can be, at any depth."""
    return frozenset(
        number for number, field in plan(descriptor).items() if field.message and name in _reachable(field.message)
    )


@cache
def _reachable(descriptor: Descriptor) -> frozenset[str]:
    """Give the names of all types that a message of this type can hold, and its own."""
    known, pending = {descriptor.full_name}, [descriptor]
    while pending:
        for field in plan(pending.pop()).values():
            if field.message and field.message.full_name not in known:
                known.add(field.message.full_name)
                pending.append(field.message)
    return frozenset(known)


def origin_of(item: Message | None) -> diagnosticpb.Origin:
    """Give where an item was written: its own field, to be changed or copied; an empty one of no item."""
    if item is None:
        return diagnosticpb.Origin()
    origin: diagnosticpb.Origin = getattr(item, "origin")  # noqa: B009  # is_item() says that it is there
    return origin


def uses(message: Message) -> Iterator[Use]:
    """Give every use of a feature in `message`, in the order of the fields.

    A field uses a feature when it is present and has an id; an enum value or an extension's own id uses one besides. An
    extension's own id is the nearest id above everything else in it. Source of the rule: options.proto.
    """
    collected: list[Use] = []
    _collect(message, message.DESCRIPTOR, "", "", None, "", collected)
    return iter(collected)


@dataclass(frozen=True, slots=True)
class Item:
    """An item and the place that holds it, so that it can be taken out.

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
        (taken,) = take_all([self])
        return taken


def take_all(chosen: Sequence[Item]) -> list[Item]:
    """Take items out of their holders and give copies that stand alone, in the order given.

    Each list is gone through once, however many are taken out of it. Paths of later entries change.
    """
    taken: list[Item] = []
    lists: dict[tuple[int, str], list[Item]] = {}
    for item in chosen:
        copy = type(item.message)()
        copy.CopyFrom(item.message)
        taken.append(replace(item, message=copy))
        if item.repeated:
            lists.setdefault((id(item.holder), item.field), []).append(item)
        else:
            item.holder.ClearField(item.field)
    for group in lists.values():
        _remove(getattr(group[0].holder, group[0].field), {id(item.message) for item in group})
    return taken


def _remove(entries: Any, gone: set[int]) -> None:
    """Remove messages from a list by their identity; the later ones first: what is before them keeps its place."""
    found = [index for index, entry in enumerate(entries) if id(entry) in gone]
    if len(found) != len(gone):
        raise AssertionError("the item is not in its list")
    for index in reversed(found):
        del entries[index]


def items(message: Message) -> Iterator[Item]:
    """Give the outermost items of `message`, in the order of the fields."""
    yield from _items(message, above="", path="")


def within(path: str, outer: str) -> bool:
    """Tell whether a field path is `outer` or lies in it."""
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


def _items(message: Message, *, above: str, path: str) -> Iterator[Item]:
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        if field.message is None:
            continue
        own = field.own_id(above)
        for where, entry in _entries(field, value, path):
            if is_item(field.message):
                yield Item(own, where, entry, message, field.name, field.repeated)
            else:
                yield from _items(entry, above=own or above, path=where)


class _Step(NamedTuple):
    """What the walk for features needs to know of one field."""

    name: str
    repeated: bool
    feature: str
    relative: bool
    prefix_of_value: str
    value_features: dict[int, str]
    enum: EnumDescriptor | None
    message: Descriptor | None
    holds_items: bool


@cache
def _steps(descriptor: Descriptor) -> dict[int, _Step]:
    """Compile the fields of a message type in or below which a feature may be, by number."""
    return {
        number: _Step(
            name=field.name,
            repeated=field.repeated,
            feature=field.feature,
            relative=field.feature.startswith("."),
            prefix_of_value=field.feature_from_value,
            value_features=field.value_features,
            enum=field.enum,
            message=field.message,
            holds_items=field.message is not None and is_item(field.message),
        )
        for number, field in plan(descriptor).items()
        if field.below
    }


def _collect(  # noqa: PLR0913, PLR0917  # positional, since the walk runs on every render, several times
    message: Message,
    descriptor: Any,
    above: str,
    path: str,
    item: Message | None,
    item_path: str,
    into: list[Use],
) -> None:
    """Add the uses in a message of this type, which is in this item.

    To a list, since generators would hand each use up through every level.
    """
    steps = _steps(descriptor)
    fields = message.ListFields()
    if _names_itself(descriptor):
        above = _id_of_value(fields, plan(descriptor)) or above
    for field, value in fields:
        step = steps.get(field.number)
        if step is None:
            continue
        feature = step.feature
        own = (above + feature if above else "") if step.relative else feature
        nearest = own or above
        place = f"{path}.{step.name}" if path else step.name
        entries = enumerate(value) if step.repeated else ((-1, value),)
        for index, entry in entries:
            where = f"{place}[{index}]" if index >= 0 else place
            inner, inner_path = (entry, where) if step.holds_items else (item, item_path)
            if own:
                into.append(Use(own, where, entry, inner, inner_path, step.enum))
            if step.prefix_of_value:
                into.append(Use(step.prefix_of_value + entry, where, entry, inner, inner_path))
            if step.value_features:
                suffix = step.value_features.get(entry)
                if suffix and (id_ := _join(suffix, nearest)):
                    into.append(Use(id_, where, entry, inner, inner_path, step.enum))
            if step.message is not None:
                _collect(entry, step.message, nearest, where, inner, inner_path, into)


@cache
def _names_itself(descriptor: Descriptor) -> bool:
    """Tell whether messages of this type may have a feature id by the value of one of their fields."""
    return any(field.feature_from_value for field in plan(descriptor).values())


def _id_of_value(fields: Iterable[tuple[FieldDescriptor, Any]], plans: dict[int, FieldPlan]) -> str:
    """Give the feature id that a message has by the value of one of its fields, or ""."""
    for descriptor, value in fields:
        prefix = plans[descriptor.number].feature_from_value
        if prefix:
            return f"{prefix}{value}"
    return ""


def _entries(field: FieldPlan, value: Any, path: str) -> Sequence[tuple[str, Any]]:
    where = f"{path}.{field.name}" if path else field.name
    if field.repeated:
        return [(f"{where}[{index}]", entry) for index, entry in enumerate(value)]
    return ((where, value),)


def _join(feature: str, above: str) -> str:
    if not feature.startswith("."):
        return feature
    return above + feature if above else ""


def _field_plan(field: FieldDescriptor) -> FieldPlan:
    options = field.GetOptions()
    values: dict[int, str] = {}
    if field.enum_type is not None:
        for value in field.enum_type.values:
            feature = value.GetOptions().Extensions[optionspb.value_feature]
            if feature:
                values[value.number] = feature
    feature = options.Extensions[optionspb.feature]
    from_value = options.Extensions[optionspb.feature_from_value]
    return FieldPlan(
        name=field.name,
        repeated=field.is_repeated,
        feature=feature,
        feature_from_value=from_value,
        value_features=values,
        message=field.message_type,
        enum=field.enum_type,
        below=bool(feature or from_value or values) or _has_features(field.message_type, frozenset()),
        rules=options.Extensions[optionspb.rules],
        redact=options.debug_redact,
    )


def _has_features(descriptor: Descriptor | None, seen: frozenset[str]) -> bool:
    if descriptor is None or descriptor.full_name in seen:
        return False
    seen |= {descriptor.full_name}
    for field in descriptor.fields:
        options = field.GetOptions()
        if options.Extensions[optionspb.feature] or options.Extensions[optionspb.feature_from_value]:
            return True
        if field.enum_type is not None and any(
            value.GetOptions().Extensions[optionspb.value_feature] for value in field.enum_type.values
        ):
            return True
        if _has_features(field.message_type, seen):
            return True
    return False
