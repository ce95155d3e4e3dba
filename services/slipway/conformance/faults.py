"""The rules of the contract that a bundle of the suite's breaks, and whether one made of it breaks others."""

from google.protobuf.message import Message

from slipway.contract.field_plans import plan
from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb


def faults(message: Message) -> set[str]:
    """Return the paths of the fields that break a rule; a bundle of the suite's has some by design."""
    return {fault.path for fault in violations(message)}


def fits(other: bundlepb.BootstrapBundle, bundle: bundlepb.BootstrapBundle, known: set[str]) -> bool:
    """Return whether a bundle made of another one breaks no further rule; only what differs is looked at."""
    differing = bundlepb.BootstrapBundle()
    differing.CopyFrom(other)
    _drop_equal(differing, bundle)
    return faults(differing) <= known


def _drop_equal(message: Message, other: Message) -> None:
    """Take from a message what the other one has alike, except where a rule requires it."""
    rules = plan(message.DESCRIPTOR)
    for field, value in message.ListFields():
        if field.message_type is None or field.number not in rules:
            continue
        if field.is_repeated:
            if not rules[field.number].rules.required and value == getattr(other, field.name):
                message.ClearField(field.name)
        elif other.HasField(field.name):
            before = getattr(other, field.name)
            if value == before and not rules[field.number].rules.required:
                message.ClearField(field.name)
            # The rules of a text bind all its parts together.
            elif not isinstance(value, contentpb.MachineText | contentpb.Content):
                _drop_equal(value, before)
