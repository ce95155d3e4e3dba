"""The outermost stage: gives a call its id, binds it to the logs, and writes the one line of its end."""

import re
import time
import uuid

import structlog

from slipway.rpc import ServicerContext
from slipway.rpc.call import REQUEST_ID, Call, Proceed

_WELL_FORMED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,63}")
_log = structlog.get_logger("slipway.rpc")


async def request_scope(call: Call, context: ServicerContext, proceed: Proceed) -> object:
    """Take over the caller's request id where it is well formed, else make one; log the outcome."""
    call.request_id = _caller_id(context) or uuid.uuid4().hex
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(request_id=call.request_id)
    start = time.perf_counter()
    try:
        return await proceed()
    finally:
        write = _log.debug if call.is_infrastructure else _log.info
        write(
            "call ended",
            rpc=f"{call.service}/{call.method}",
            code=call.code.name,
            reason=call.reason or None,
            milliseconds=round((time.perf_counter() - start) * 1000, 2),
            **({"trace_id": call.trace_id} if call.trace_id else {}),
        )


def _caller_id(context: ServicerContext) -> str:
    for key, value in context.invocation_metadata() or ():
        if key == REQUEST_ID and isinstance(value, str) and _WELL_FORMED.fullmatch(value):
            return value
    return ""
