"""The stages that bound work: too much of it at once, any when the server is about to end, and what takes too long.

gRPC's own cap answers RESOURCE_EXHAUSTED without a reason, which a caller cannot distinguish from a message that is too
large, and it counts health checks and streams. So the caps are here, and gRPC's stands far behind them. No caller can
take all places: a quarter of them is for others, and streams, which may stay for ever, have places of their own. The
time of every unary call is bounded, whether or not its caller did that.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from slipway.contract.errors import DeadlineExceeded, Draining, Overloaded
from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed
from slipway.rpc.presence import RETRY_AFTER, caller_of

MAX_STREAMS = 256
"""Streams that a server has open at most."""

MAX_STREAMS_OF_CALLER = 32
"""Streams that one caller has open at most."""


class Admission:
    """Lets at most ``limit`` unary calls in, and ``streams`` streams; ends streams when the server closes."""

    def __init__(
        self, *, limit: int, streams: int = MAX_STREAMS, streams_of_caller: int = MAX_STREAMS_OF_CALLER
    ) -> None:
        self._calls = _Places(total=limit, each=math.ceil(limit * 3 / 4))
        self._streams = _Places(total=streams, each=streams_of_caller)
        self._closing = asyncio.Event()

    def close(self) -> None:
        """Let no call in any more and end the streams; unary calls in flight go on."""
        self._closing.set()

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> object:
        """Run a call, or refuse it.

        Raises:
            Draining: the server is closing.
            Overloaded: as many calls or streams as allowed are open, of this caller or of all.
        """
        if self._closing.is_set():
            raise _draining()
        if call.streaming:
            with self._streams.hold(caller_of(context)):
                return await self._until_closing(proceed)
        if call.is_infrastructure:
            return await proceed()
        with self._calls.hold(caller_of(context)):
            return await proceed()

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


class _Places:
    """Places for calls: so many in total, and so many for each caller."""

    def __init__(self, *, total: int, each: int) -> None:
        self._total = total
        self._each = each
        self._taken: Counter[str] = Counter()

    @contextmanager
    def hold(self, caller: str) -> Iterator[None]:
        """Take a place, and give it back.

        Raises:
            Overloaded: there is none.
        """
        for limit, count in ((self._total, self._taken.total()), (self._each, self._taken[caller])):
            if count >= limit:
                raise Overloaded(
                    "the server has as many calls in flight as it takes, of this caller or of all; retry with back-off",
                    metadata={"limit": str(limit)},
                    retry_after=RETRY_AFTER,
                )
        self._taken[caller] += 1
        try:
            yield
        finally:
            self._taken[caller] -= 1
            if not self._taken[caller]:
                del self._taken[caller]


def _draining() -> Draining:
    return Draining("the server is shutting down; use another instance", retry_after=RETRY_AFTER)


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
