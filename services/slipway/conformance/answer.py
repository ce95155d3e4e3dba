"""What comes back from a call: its code, its message, and all that the rich status carries."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

DETAILS = "grpc-status-details-bin"
_Detail = TypeVar("_Detail", ErrorInfo, BadRequest, RetryInfo)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back.

    Attributes:
        code: canonical code, "OK" on success.
        message: the status' message.
        response: the response; None unless OK.
        status: the rich status; None when there was none.
        raw: size of the rich status in bytes.
        seconds: how long it took.
        again: whether it is that of a second try, since the first was not answered in time.
    """

    code: str
    message: str = ""
    response: Any = field(default=None, repr=False)
    status: Status | None = field(default=None, repr=False)
    raw: int = 0
    seconds: float = 0.0
    again: bool = False

    @property
    def ok(self) -> bool:
        """Whether it succeeded."""
        return self.code == "OK"

    @property
    def info(self) -> ErrorInfo:
        """The ErrorInfo; empty where the status has no such detail."""
        return self._detail(ErrorInfo())

    @property
    def fields(self) -> list[str]:
        """The fields that BadRequest names."""
        return [violation.field for violation in self._detail(BadRequest()).field_violations]

    @property
    def overloaded(self) -> bool:
        """Whether it was refused since too many calls are in flight, and says when to repeat it (LIM-009)."""
        return (self.code, self.info.reason) == ("UNAVAILABLE", "OVERLOADED") and self.retry_info is not None

    @property
    def retry_info(self) -> RetryInfo | None:
        """The RetryInfo, if there is one."""
        info = self._detail(RetryInfo())
        return info if info.HasField("retry_delay") else None

    def described(self) -> str:
        """Give code and reason for a report; the message is left out, for it may hold anything."""
        return f"{self.code}/{self.info.reason}" if self.info.reason else self.code

    def _detail(self, message: _Detail) -> _Detail:
        for detail in self.status.details if self.status is not None else ():
            if detail.Is(message.DESCRIPTOR):
                try:
                    message.ParseFromString(detail.value)
                except DecodeError:
                    break
                return message
        return type(message)()


async def answer(method: Callable[..., Any], request: Message | bytes, *, seconds: float) -> Answer:
    """Call a method and give whatever comes back, never an exception."""
    began = time.monotonic()
    try:
        response = await method(request, timeout=seconds, wait_for_ready=False)
    except grpc.aio.AioRpcError as error:
        raw = next((value for key, value in error.trailing_metadata() or () if key == DETAILS), b"")
        raw = raw if isinstance(raw, bytes) else b""
        try:
            status = Status.FromString(raw) if raw else None
        except DecodeError:
            status = None
        return Answer(
            code=error.code().name,
            message=error.details() or "",
            status=status,
            raw=len(raw),
            seconds=time.monotonic() - began,
        )
    return Answer(code="OK", response=response, seconds=time.monotonic() - began)
