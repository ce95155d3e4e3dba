"""Finds fields that only Slipway fills in, in a message of another program."""

from collections.abc import Iterator

from google.protobuf.message import Message

from slipway.contract.errors import Violation
from slipway.contract.field_plans import plan


def internal_fields(message: Message, *, path: str) -> Iterator[Violation]:
    """Give a violation for every field in `message` and below it that its rules call internal."""
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        where = f"{path}.{field.name}"
        if field.rules.internal:
            yield Violation(where, "is filled in by Slipway", remedy="leave it out")
        elif field.message is not None:
            for index, entry in enumerate(value if field.repeated else (value,)):
                yield from internal_fields(entry, path=f"{where}[{index}]" if field.repeated else where)
