"""Remove secrets from messages before anybody looks at them.

Python's protobuf ignores `debug_redact` everywhere: str, repr, text format and JSON print the field. So whoever shows a
message passes it through here first. The copy is made field by field from what the descriptors know; what they do not
know (an unknown field) is not copied.

In a document, `{hidden: 22 bytes}` stands where a secret was left out. It is a mapping, not text: every field that
holds a secret is text, so no reader of specs, in YAML or JSON, and no schema of a custom resource takes it for a value.
"""

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from google.protobuf.message import Message

from slipway.contract.field_plans import plan

M = TypeVar("M", bound=Message)

_HIDDEN = "hidden"

NO_VALUE = (
    "the value is missing: slipway import leaves secrets out. Write the value here, or import with --show-secrets"
)
"""What is said of a field that was left out."""


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


def left_out(value: str) -> dict[str, str]:
    """Give what stands in a document in place of a value: its size."""
    size = len(value.encode())
    return {_HIDDEN: f"{size} {'byte' if size == 1 else 'bytes'}"}


def is_left_out(tree: Any) -> bool:
    """Return whether a plain tree is what stands in place of a value."""
    return isinstance(tree, dict) and set(tree) == {_HIDDEN}
