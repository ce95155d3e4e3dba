"""Finds what a message holds and this program's contract does not know: fields, and values of enums.

protobuf keeps both in silence, and code that builds on it loses them. That is harmless in an answer and never in
a spec: a caller with a newer contract would get a machine without one of its settings. So code that takes a spec looks
here first.
"""

from collections.abc import Iterator

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from slipway.contract.errors import SpecInvalid, Violation
from slipway.contract.field_plans import plan
from slipway.contract.validation import bounded


def check_request(request: Message) -> None:
    """Check that a request itself holds no unknown field; what it carries is checked where it is taken.

    Raises:
        SpecInvalid: it holds some.
    """
    unknown = bounded(_of(request, "request"))
    if unknown:
        raise SpecInvalid("the request is not valid", violations=unknown)


def unknown_fields(message: Message, *, path: str) -> Iterator[Violation]:
    """Give a violation for every unknown field in `message` and below it, by the path of what holds it."""
    yield from _of(message, path)
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        if field.message is None:
            continue
        where = f"{path}.{field.name}"
        if field.repeated:
            for index, entry in enumerate(value):
                yield from unknown_fields(entry, path=f"{where}[{index}]")
        else:
            yield from unknown_fields(value, path=where)


def _of(message: Message, path: str) -> Iterator[Violation]:
    for field in UnknownFieldSet(message):  # type: ignore[attr-defined]  # the stubs forget that it is a sequence
        yield Violation(
            path,
            f"holds field number {field.field_number}, which this version of Slipway does not know",
            remedy="leave it out, or ask a server whose version knows it",
        )
