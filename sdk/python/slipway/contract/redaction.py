"""Remove secrets from messages before anybody looks at them.

Python's protobuf ignores `debug_redact` everywhere: str, repr, text format and JSON print the field. So whoever shows a
message passes it through here first. The copy is made field by field from what the descriptors know; what they do not
know (an unknown field) is not copied.
"""

from collections.abc import Iterable
from typing import TypeVar, cast

from google.protobuf.message import Message

from slipway.contract.field_plans import plan

M = TypeVar("M", bound=Message)


def redacted(message: M) -> M:
    """Give a copy without any field that is marked `debug_redact` and without unknown fields."""
    return _copy(message, keep_presence=False)


def redacted_with_sizes(message: M) -> M:
    """Give the same copy, but with "<N bytes>" in place of each removed value, so that people see that it is set."""
    return _copy(message, keep_presence=True)


def _copy(message: M, *, keep_presence: bool) -> M:
    copy = type(message)()
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        if field.redact:
            if keep_presence:
                _mark(copy, field.name, value)
        elif field.message is not None:
            if field.repeated:
                getattr(copy, field.name).extend(_copy(entry, keep_presence=keep_presence) for entry in value)
            else:
                getattr(copy, field.name).CopyFrom(_copy(value, keep_presence=keep_presence))
        elif field.repeated:
            getattr(copy, field.name).extend(value)
        else:
            setattr(copy, field.name, value)
    return copy


def _mark(copy: Message, name: str, value: object) -> None:
    if isinstance(value, str | bytes):
        setattr(copy, name, _size(value))
    else:
        getattr(copy, name).extend(_size(entry) for entry in cast("Iterable[str | bytes]", value))


def _size(value: str | bytes) -> str | bytes:
    if isinstance(value, bytes):
        return f"<{len(value)} bytes>".encode()
    return f"<{len(value.encode())} bytes>"
