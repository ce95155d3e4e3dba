"""The stage that bounds the time of every unary call, whether or not its caller did."""

import asyncio

from slipway.contract.errors import DeadlineExceeded
from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed


class Deadline:
    """Stops a unary call at the caller's deadline or after ``limit`` seconds, what is earlier."""

    def __init__(self, *, limit: float) -> None:
        self._limit = limit

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> object:
        """Run the call within its time.

        Raises:
            DeadlineExceeded: the time is over; the handler was cancelled.
        """
        if call.streaming:
            return await proceed()
        remaining: float | None = context.time_remaining()
        seconds = self._limit if remaining is None else min(remaining, self._limit)
        timer = asyncio.timeout(seconds)
        try:
            async with timer:
                return await proceed()
        except TimeoutError:
            if not timer.expired():
                raise
            raise DeadlineExceeded("the time for this call is over; it is safe to repeat") from None
