"""What every error that a Slipway service gives on purpose has in common.

It stands apart from gRPC: pure code raises these anywhere, one interceptor maps them to a status, and clients get the
same classes back, so that only the transport knows the transport. Reasons, codes and what a caller must do come
from the error table, proto/slipway/v1alpha1/errors.yaml. The classes, one for each reason, are generated from it:
`slipway.contract.errors`, which is what code imports.

A message is for people: it names field paths and what to do. It never holds a value of the request, nor do
violations or metadata (field names, indices, feature ids and non-secret map keys are allowed).
"""

from collections.abc import Iterable, Mapping
from typing import ClassVar, Self

from google.rpc.status_pb2 import Status

from slipway.contract.status import Failure, decode, encode
from slipway.contract.status import Violation as Violation  # noqa: PLC0414  # part of an error's API
from slipway.v1alpha1.reasons import COMMON_METADATA, RULES, Code, Reason

RETRYABLE_CODES = frozenset({Code.UNAVAILABLE, Code.DEADLINE_EXCEEDED, Code.ABORTED, Code.RESOURCE_EXHAUSTED})
"""Codes of a status without a known reason that are worth a repeat with back-off."""


class SlipwayError(Exception):
    """A failure with a reason of the error table. Raise a subclass.

    Attributes:
        reason: reason of the table ("" only for a ForeignStatus without one).
        code: canonical status code of the reason.
        violations: fields that break a rule.
        metadata: the dynamic parts, under the keys that the table lists for the reason.
        retry_after: seconds to wait before a repeat, or None.
    """

    reason: str = ""
    by_reason: ClassVar[dict[str, type["SlipwayError"]]] = {}

    def __init__(
        self,
        message: str,
        *,
        violations: Iterable[Violation | tuple[str, str]] = (),
        metadata: Mapping[str, str] | None = None,
        retry_after: float | None = None,
    ) -> None:
        """Make the error.

        Raises:
            ValueError: a metadata key is not in the table: a defect of the caller's code.
        """
        super().__init__(message)
        self.message = message
        self.violations = tuple(v if isinstance(v, Violation) else Violation(*v) for v in violations)
        self.metadata = dict(metadata or {})
        self.retry_after = retry_after
        unknown = self._unknown_keys()
        if unknown:
            raise ValueError(f"{self.reason} has no metadata keys {unknown} in errors.yaml")

    def __init_subclass__(cls) -> None:
        """Enter the class under its reason."""
        super().__init_subclass__()
        if "reason" in vars(cls) and cls.reason:
            SlipwayError.by_reason[cls.reason] = cls

    @property
    def code(self) -> Code:
        """Canonical status code."""
        return RULES[Reason(self.reason)].code

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later, without a change."""
        return RULES[Reason(self.reason)].retryable

    def to_status(self) -> Status:
        """Give the wire form, at most 4 KiB serialised."""
        return encode(
            Failure(
                code=self.code,
                message=self.message,
                reason=self.reason,
                metadata=self.metadata,
                violations=self.violations,
                retry_after=self.retry_after,
            )
        )

    @staticmethod
    def from_status(status: Status) -> "SlipwayError":
        """Give the error that a status means; a ForeignStatus where it has no reason that this code knows."""
        failure = decode(status)
        cls = SlipwayError.by_reason.get(failure.reason)
        if cls is None or RULES[Reason(failure.reason)].code != failure.code:
            return ForeignStatus(failure)
        error = cls(failure.message, violations=failure.violations, retry_after=failure.retry_after)
        # A newer peer may send keys that this table does not list yet; they are kept.
        error.metadata = dict(failure.metadata)
        return error

    def prefixed(self, origin: str) -> Self:
        """Say where the error comes from in front of the message, as a gateway does; all else stays."""
        self.message = f"{origin}: {self.message}"
        self.args = (self.message,)
        return self

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    def _unknown_keys(self) -> list[str]:
        if not self.reason:
            raise ValueError(f"{type(self).__name__} has no reason: raise a subclass")
        return sorted(self.metadata.keys() - RULES[Reason(self.reason)].metadata - COMMON_METADATA)


def error_class(reason: Reason) -> type[SlipwayError]:
    """Give the class of a reason."""
    return SlipwayError.by_reason[reason]


class ForeignStatus(SlipwayError):  # noqa: N818  # no reason, no error of ours
    """A status that is not of our table: made by the transport, or with a reason newer than this code."""

    def __init__(self, failure: Failure) -> None:
        self.reason = failure.reason
        self._code = Code(failure.code) if failure.code in Code.__members__.values() else Code.UNKNOWN
        super().__init__(
            failure.message,
            violations=failure.violations,
            metadata=failure.metadata,
            retry_after=failure.retry_after,
        )

    @property
    def code(self) -> Code:
        """Canonical status code; UNKNOWN for a number that is no code."""
        return self._code

    @property
    def retryable(self) -> bool:
        """Judged by the code alone."""
        return self._code in RETRYABLE_CODES

    def _unknown_keys(self) -> list[str]:
        return []
