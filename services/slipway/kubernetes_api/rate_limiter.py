"""A rate limit for calls: so many a second with short bursts, so that a service leaves others their share."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Self


class RateLimiter:
    """A token bucket; callers acquire in their order."""

    def __init__(
        self,
        *,
        per_second: float,
        burst: int,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Allow `burst` calls at once and `per_second` in the long run; 0 means as many as come."""
        self._per_second = per_second
        self._burst = float(burst)
        self._monotonic = monotonic
        self._sleep = sleep
        self._tokens = float(burst)
        self._at = monotonic()

    @classmethod
    def unlimited(cls) -> Self:
        """Make one that never waits."""
        return cls(per_second=0, burst=0)

    async def acquire(self) -> None:
        """Return when the next call may be made."""
        if not self._per_second:
            return
        now = self._monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * self._per_second)
        self._at = now
        # A debt makes later callers wait longer: each keeps its place without a queue.
        self._tokens -= 1
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._per_second)
