"""One call as the server sees it, and the shape of a stage that surrounds its handler."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from slipway.rpc import ServicerContext
from slipway.v1alpha1.reasons import Code, Reason

REQUEST_ID = "x-request-id"
"""Metadata key of the request id, in both directions."""

_OTHER = "Other"
_REASONS = frozenset(Reason)

UNKNOWN = "unknown"
"""Stands for a service or method that this server does not serve: a caller must not choose labels."""


@dataclass(slots=True)
class Call:
    """Facts of one call that are safe to log; ``code`` and ``reason`` are its outcome so far.

    Attributes:
        service: full name of the service, or "unknown".
        method: name of the method, or "unknown".
        streaming: the answer is a stream.
        request_id: id of the call, taken over from the caller where it is well formed.
        trace_id: id of the trace that the call belongs to; "" where no traces are exported.
    """

    service: str
    method: str
    streaming: bool
    request_id: str = ""
    trace_id: str = ""
    code: Code = Code.OK
    reason: str = ""

    @property
    def is_infrastructure(self) -> bool:
        """It is health or reflection, which must answer whatever else happens."""
        return self.service.startswith("grpc.")

    @property
    def reason_label(self) -> str:
        """The reason as a label of metrics: "Other" for a relayed one that is not of the error table."""
        return self.reason if not self.reason or self.reason in _REASONS else _OTHER


Proceed = Callable[[], Awaitable[Any]]
"""Goes on to the next stage, in the end to the handler."""


class Stage(Protocol):
    """Something that surrounds every call."""

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> Any:
        """Do what comes before, ``await proceed()``, do what comes after; give what it gave."""
