"""Calls to other servers: always with a deadline, with our request id and trace, and with our own errors."""

import asyncio
from collections.abc import AsyncIterator
from typing import TypeVar

import grpc
import grpc.aio
import structlog
from google.protobuf.message import DecodeError
from google.rpc.status_pb2 import Status

from slipway.contract.errors import ForeignStatus, SlipwayError
from slipway.contract.status import Failure
from slipway.rpc.call import REQUEST_ID
from slipway.rpc.error_mapping import DETAILS
from slipway.rpc.spans import trace_headers
from slipway.v1alpha1.reasons import Code

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")

_FOREIGN_IDENTITY = "Hostname Verification Check failed"


async def invoke(
    method: grpc.aio.UnaryUnaryMultiCallable[_Request, _Response],
    request: _Request,
    *,
    timeout: float,  # noqa: ASYNC109  # it is the deadline that travels with the call
    wait_for_ready: bool = False,
    authorization: str = "",
) -> _Response:
    """Call a method of a stub; ``timeout`` in seconds, ``authorization`` as the header of that name, "" for none.

    Raises:
        SlipwayError: the call failed; a ForeignStatus where the transport failed.
    """
    try:
        return await method(request, timeout=timeout, metadata=_outgoing(authorization), wait_for_ready=wait_for_ready)
    except grpc.aio.AioRpcError as error:
        failure = _slipway_error(error)
    except grpc.aio.UsageError:
        failure = _closed()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # The call was not cancelled: the channel was closed under it.
        failure = _closed()
    raise failure


async def stream(
    method: grpc.aio.UnaryStreamMultiCallable[_Request, _Response],
    request: _Request,
    *,
    timeout: float | None = None,  # noqa: ASYNC109  # it is the deadline that travels with the call
    authorization: str = "",
) -> AsyncIterator[_Response]:
    """Call a method of a stub that answers with a stream; ``timeout`` None lets it go on for ever.

    ``authorization`` is the header of that name, "" for none.

    Raises:
        SlipwayError: the call failed; a ForeignStatus where the transport failed.
    """
    call = method(request, timeout=timeout, metadata=_outgoing(authorization))
    try:
        async for message in call:
            yield message
        return  # noqa: TRY300  # the error of the last line stays out of the handler
    except grpc.aio.AioRpcError as error:
        failure = _slipway_error(error)
    finally:
        call.cancel()
    raise failure


def _closed() -> SlipwayError:
    return ForeignStatus(Failure(code=Code.UNAVAILABLE, message="the channel was closed meanwhile"))


def is_foreign_identity(error: SlipwayError) -> bool:
    """Whether a call failed since the other side's certificate does not have the demanded identity."""
    return _FOREIGN_IDENTITY in error.message


def _outgoing(authorization: str) -> tuple[tuple[str, str], ...]:
    request_id = structlog.contextvars.get_contextvars().get("request_id")
    own = ((REQUEST_ID, request_id),) if isinstance(request_id, str) else ()
    shown = (("authorization", authorization),) if authorization else ()
    return own + shown + trace_headers.get()


def _slipway_error(error: grpc.aio.AioRpcError) -> SlipwayError:
    status = Status(code=int(error.code().value[0]), message=error.details() or "")
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS and isinstance(value, bytes):
            try:
                sent = Status.FromString(value)
            except DecodeError:
                break
            if sent.code == status.code:
                status = sent
    return SlipwayError.from_status(status)
