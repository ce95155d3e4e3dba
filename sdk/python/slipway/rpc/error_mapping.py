"""The stage that turns exceptions into statuses, and lets no text of an unforeseen one out.

gRPC itself would send ``str(exception)`` to the caller, which may quote anything. A SlipwayError goes out as its
status; anything else becomes INTERNAL with an id under which the log holds class names and frames, no values.
"""

import asyncio
import traceback
import uuid
from collections.abc import Iterator

import grpc
import grpc.aio
import structlog

from slipway.contract.errors import Internal, SlipwayError
from slipway.rpc import ServicerContext
from slipway.rpc.call import REQUEST_ID, Call, Proceed
from slipway.v1alpha1.reasons import Code

DETAILS = "grpc-status-details-bin"
"""Trailing metadata that holds the serialised google.rpc.Status."""

PUSHBACK = "grpc-retry-pushback-ms"
"""Trailing metadata with the delay for gRPC's own retries."""

_STATUS_CODES = {int(code.value[0]): code for code in grpc.StatusCode}
_log = structlog.get_logger("slipway.rpc")


async def map_errors(call: Call, context: ServicerContext, proceed: Proceed) -> object:
    """End a failed call with a status of the error table."""
    try:
        return await proceed()
    except grpc.aio.AbortError:
        call.code = _code_of(context)
        raise
    except asyncio.CancelledError:
        call.code = Code.CANCELLED
        raise
    except SlipwayError as error:
        failure = error
    except Exception as error:  # noqa: BLE001  # nothing unforeseen may reach gRPC, which would send its text
        failure = _unforeseen(error)
    await _abort(call, context, failure)
    return None


def describe_exception(error: BaseException) -> dict[str, list[str]]:
    """Give what may be logged of an exception: the class names of its chain and its frames, no values."""
    chain = list(_chain(error))
    frames = [
        f"{frame.f_code.co_filename}:{line}:{frame.f_code.co_name}"
        for frame, line in traceback.walk_tb(chain[-1].__traceback__)
    ]
    return {"error": [type(link).__name__ for link in chain], "frames": frames[-20:]}


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(8):
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def _unforeseen(error: Exception) -> Internal:
    error_id = uuid.uuid4().hex
    _log.error("call failed with an internal error", error_id=error_id, **describe_exception(error))
    return Internal("the server failed with an internal error; report the error id", metadata={"error_id": error_id})


async def _abort(call: Call, context: ServicerContext, failure: SlipwayError) -> None:
    call.code, call.reason = failure.code, failure.reason
    failure.metadata.setdefault("request_id", call.request_id)
    status = failure.to_status()
    trailers: list[tuple[str, str | bytes]] = [
        (DETAILS, status.SerializeToString()),
        (REQUEST_ID, call.request_id),
    ]
    if failure.retry_after is not None and failure.code is Code.UNAVAILABLE:
        trailers.append((PUSHBACK, str(round(failure.retry_after * 1000))))
    await context.abort(_STATUS_CODES[failure.code], status.message, trailing_metadata=tuple(trailers))


def _code_of(context: ServicerContext) -> Code:
    code = context.code()
    return Code(code if isinstance(code, int) else int(code.value[0]))
