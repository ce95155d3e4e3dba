"""The wire form of an error: google.rpc.Status with ErrorInfo, BadRequest and RetryInfo, within a budget.

It exists apart from the exceptions because size is a correctness matter here: gRPC carries a status in
trailers, where a client throws away what is too large and shows RESOURCE_EXHAUSTED in place of the true
error. So every status is cut to 4 KiB before it leaves, in an order that keeps the machine-readable part
longest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from slipway.contract.control_characters import escape_controls
from slipway.v1alpha1.reasons import DOMAIN

BUDGET = 4096
"""Bytes of a serialised status (design of the contract: at most 4 KiB)."""

VIOLATIONS = 20
"""Field violations shown at most; ``truncated`` counts the rest."""

_MESSAGE = 1024
_TEXT = 256
_KEYS = 24
_KEY = 63
_VALUE_LIMITS = (512, 128, 32)
_CUT = "..."

_Detail = TypeVar("_Detail", ErrorInfo, BadRequest, RetryInfo)


@dataclass(frozen=True, slots=True)
class Violation:
    """One field that breaks a rule: its path as the user knows it, and the rule.

    ``feature`` is the id of the feature that is not supported, where it is one; ``remedy`` is what the user can do.
    On the wire they are FieldViolation.reason and .localized_message. The others are not on the wire: ``part`` is the
    feature of the field within the item that it is about, ``inner`` the field with which the description begins, and
    ``alternative`` the end of the remedy that names other formats, in which no word is a field.
    """

    path: str
    description: str
    feature: str = ""
    remedy: str = ""
    part: str = field(default="", compare=False, repr=False)
    inner: str = field(default="", compare=False, repr=False)
    alternative: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Failure:
    """What a status says, apart from any exception class.

    ``code`` is canonical, ``retry_after`` in seconds. ``reason`` is "" without an ErrorInfo of our domain.
    """

    code: int
    message: str
    reason: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    retry_after: float | None = None


def encode(failure: Failure) -> Status:
    """Give the status of a failure, serialised at most ``BUDGET`` bytes.

    What does not fit goes in this order: violations beyond 20, then long texts, then more violations, then
    the length of metadata values. Code, reason and metadata keys always stay.
    """
    shown = [_violation(violation) for violation in failure.violations[:VIOLATIONS]]
    for limit in _VALUE_LIMITS:
        for count in range(len(shown), -1, -1):
            status = _build(failure, shown[:count], limit=limit)
            if status.ByteSize() <= BUDGET:
                return status
    raise ValueError("a status of code, reason and message alone is over its budget")


def decode(status: Status) -> Failure:
    """Give what a status says; details of unknown types or of another domain are ignored, never an error."""
    info = _detail(status, ErrorInfo())
    ours = info if info is not None and info.domain == DOMAIN else ErrorInfo()
    bad = _detail(status, BadRequest()) or BadRequest()
    retry = _detail(status, RetryInfo())
    return Failure(
        code=status.code,
        message=status.message,
        reason=ours.reason,
        metadata=dict(ours.metadata),
        violations=tuple(
            Violation(entry.field, entry.description, entry.reason, entry.localized_message.message)
            for entry in bad.field_violations
        ),
        retry_after=None if retry is None else retry.retry_delay.ToMilliseconds() / 1000,
    )


def _violation(violation: Violation) -> BadRequest.FieldViolation:
    entry = BadRequest.FieldViolation(
        field=_cut(_one_line(violation.path), _TEXT),
        description=_cut(_one_line(violation.description), _TEXT),
        reason=_one_line(violation.feature)[:_TEXT],
    )
    if violation.remedy:
        entry.localized_message.locale = "en"
        entry.localized_message.message = _cut(_one_line(violation.remedy), _TEXT)
    return entry


def _build(failure: Failure, violations: Iterable[BadRequest.FieldViolation], *, limit: int) -> Status:
    shown = list(violations)
    status = Status(code=failure.code, message=_cut(escape_controls(failure.message), _MESSAGE))
    if failure.reason:
        metadata = {
            key[:_KEY]: _cut(_one_line(value), limit) for key, value in sorted(failure.metadata.items())[:_KEYS]
        }
        if len(shown) < len(failure.violations):
            metadata["truncated"] = str(len(failure.violations) - len(shown))
        info = ErrorInfo(reason=failure.reason[:_KEY], domain=DOMAIN, metadata=metadata)
        status.details.add().Pack(info)
    if shown:
        status.details.add().Pack(BadRequest(field_violations=shown))
    if failure.retry_after is not None:
        delay = Duration()
        delay.FromMilliseconds(max(0, round(failure.retry_after * 1000)))
        status.details.add().Pack(RetryInfo(retry_delay=delay))
    return status


def _detail(status: Status, message: _Detail) -> _Detail | None:
    for detail in status.details:
        if detail.Is(message.DESCRIPTOR):
            try:
                message.ParseFromString(detail.value)
            except DecodeError:
                return None
            return message
    return None


def _one_line(text: str) -> str:
    """Show what a terminal obeys, and line breaks too: a field path may come from the caller."""
    return escape_controls(text).replace("\n", "\\u000a")


def _cut(text: str, limit: int) -> str:
    """Shorten a text to ``limit`` bytes as gRPC sends it, and make it valid UTF-8."""
    head = text[: limit + 1].encode("utf-8", errors="replace").decode("utf-8")
    if len(text) <= limit and _wire_length(head) <= limit:
        return head
    while _wire_length(head) > limit - len(_CUT):
        head = head[:-1]
    return head + _CUT


def _wire_length(text: str) -> int:
    """Bytes of a text in the grpc-message trailer, where all but printable ASCII is percent-encoded."""
    octets = text.encode("utf-8")
    return sum(1 if 0x20 <= octet <= 0x7E and octet != 0x25 else 3 for octet in octets)  # noqa: PLR2004  # ASCII
