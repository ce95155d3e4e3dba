"""The stage that refuses work: too much of it at once, or any when the server is about to end.

gRPC's own cap answers RESOURCE_EXHAUSTED without a reason, which a caller cannot tell from a message that is too
large, and it counts health checks and streams. So the cap is here, and gRPC's stands far behind it.
"""

import asyncio

from slipway.contract.errors import Draining, Overloaded
from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed

RETRY_AFTER = 1.0
"""Seconds that a refused caller is asked to wait."""


class Admission:
    """Lets at most ``limit`` unary calls in; ends streams when the server closes."""

    def __init__(self, *, limit: int) -> None:
        self._limit = limit
        self._closing = asyncio.Event()
        self.in_flight = 0

    def close(self) -> None:
        """Let nobody in any more and end the streams; unary calls in flight go on."""
        self._closing.set()

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> object:
        """Run a call, or refuse it.

        Raises:
            Draining: the server is closing.
            Overloaded: as many calls as allowed are in flight.
        """
        del context
        if self._closing.is_set():
            raise _draining()
        if call.streaming:
            return await self._until_closing(proceed)
        if call.is_infrastructure:
            return await proceed()
        if self.in_flight >= self._limit:
            raise Overloaded(
                "the server has as many calls in flight as it takes; retry with back-off",
                metadata={"limit": str(self._limit)},
                retry_after=RETRY_AFTER,
            )
        self.in_flight += 1
        try:
            return await proceed()
        finally:
            self.in_flight -= 1

    async def _until_closing(self, proceed: Proceed) -> object:
        work = asyncio.ensure_future(proceed())
        closing = asyncio.ensure_future(self._closing.wait())
        try:
            await asyncio.wait({work, closing}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            raise _draining()
        finally:
            closing.cancel()
            if not work.done():
                work.cancel()
                await asyncio.gather(work, return_exceptions=True)


def _draining() -> Draining:
    return Draining("the server is shutting down; use another instance", retry_after=RETRY_AFTER)
