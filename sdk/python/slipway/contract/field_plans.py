"""What a walk needs to know of a message type's fields, as the descriptors state it.

It is compiled once and kept, because a walk runs on every render.
"""

from dataclasses import dataclass
from functools import cache

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

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
        return join_feature(self.feature, above)


@cache
def plan(descriptor: Descriptor) -> dict[int, FieldPlan]:
    """Compile what a walk needs to know of a message type, by field number."""
    return {field.number: _field_plan(field) for field in descriptor.fields}


@cache
def is_item(descriptor: Descriptor) -> bool:
    """Return whether messages of this type are items: units that are taken, lowered or refused as a whole."""
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


def join_feature(feature: str, above: str) -> str:
    """Give the feature id of a field below the id `above`, or "" when it has none of its own."""
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
