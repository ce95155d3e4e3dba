"""The uses of features in a message, as the descriptors state them.

The features of a bundle, its validation, its redaction and its origins all follow the descriptors, so a field that is
added to the contract is covered by all of them on the day it is added.
"""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message

from slipway.contract.field_plans import FieldPlan, is_item, join_feature, plan


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


def uses(message: Message) -> Iterator[Use]:
    """Give every use of a feature in `message`, in the order of the fields.

    A field uses a feature when it is present and has an id; an enum value or an extension's own id uses one besides. An
    extension's own id is the nearest id above everything else in it. Source of the rule: options.proto.
    """
    collected: list[Use] = []
    _collect(message, _walk(message.DESCRIPTOR), "", "", None, "", collected)
    return iter(collected)


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


class _Walk(NamedTuple):
    """What the walk needs to know of a message type.

    `steps` has the fields in or below which a feature may be, by number; `named` the plans of all fields of a type
    whose messages may have a feature id by the value of one of them, else None.
    """

    steps: dict[int, _Step]
    named: dict[int, FieldPlan] | None


@cache
def _walk(descriptor: Descriptor) -> _Walk:
    """Compile the fields of a message type."""
    plans = plan(descriptor)
    steps = {
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
        for number, field in plans.items()
        if field.below
    }
    return _Walk(steps, plans if any(field.feature_from_value for field in plans.values()) else None)


def _collect(  # noqa: PLR0913, PLR0917  # positional, since the walk runs on every render, several times
    message: Message,
    walk: _Walk,
    above: str,
    path: str,
    item: Message | None,
    item_path: str,
    into: list[Use],
) -> None:
    """Add the uses in a message of this type, which is in this item.

    To a list, since generators would hand each use up through every level.
    """
    steps, named = walk
    fields = message.ListFields()
    if named is not None:
        above = _id_of_value(fields, named) or above
    for field, value in fields:
        step = steps.get(field.number)
        if step is None:
            continue
        name, repeated, feature, relative, prefix_of_value, value_features, enum, type_, holds_items = step
        own = (above + feature if above else "") if relative else feature
        nearest = own or above
        place = f"{path}.{name}" if path else name
        inner_walk = None if type_ is None else _walk(type_)
        for index, entry in enumerate(value) if repeated else ((-1, value),):
            where = f"{place}[{index}]" if repeated else place
            inner, inner_path = (entry, where) if holds_items else (item, item_path)
            if own:
                into.append(Use(own, where, entry, inner, inner_path, enum))
            if prefix_of_value:
                into.append(Use(prefix_of_value + entry, where, entry, inner, inner_path))
            if value_features:
                suffix = value_features.get(entry)
                if suffix and (id_ := join_feature(suffix, nearest)):
                    into.append(Use(id_, where, entry, inner, inner_path, enum))
            if inner_walk is not None:
                _collect(entry, inner_walk, nearest, where, inner, inner_path, into)


def _id_of_value(fields: Iterable[tuple[FieldDescriptor, Any]], plans: dict[int, FieldPlan]) -> str:
    """Give the feature id that a message has by the value of one of its fields, or ""."""
    for descriptor, value in fields:
        prefix = plans[descriptor.number].feature_from_value
        if prefix:
            return f"{prefix}{value}"
    return ""
