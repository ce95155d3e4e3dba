"""Measures by how much this machine makes the suite itself late, so that a provisioner is not blamed for it.

A starved machine delays whoever runs on it. Waits are longer by as much as the suite was late, and as many times as
long as the machine is slower than usual (yardstick), within a bound. What does not come in that time has failed, and
the finding says so; where the bound was less than the machine would have needed, it is not judged.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

_BEAT = 0.1
"""Seconds between two looks at the clock."""

_NOTICEABLE = 0.05
"""A beat that is late by less is as it should be."""

_MOST = 3
"""A wait becomes at most so many times as long."""

_WORTH_SAYING = 0.5
"""Seconds from which on a finding reports them."""

_Found = TypeVar("_Found")


class Heartbeat:
    """Looks at the clock all the time. One that was not started has never been late."""

    def __init__(
        self, *, now: Callable[[], float] = time.monotonic, slowness: Callable[[], float] = lambda: 1.0
    ) -> None:
        """Begin with nothing noticed; `now` gives seconds, `slowness` how many times slower the machine is."""
        self._now = now
        self.slowness = slowness
        self._short: list[tuple[float, float]] = []
        self._noticed: list[tuple[float, float]] = []
        self._repeated: list[tuple[float, float]] = []
        self._due: float | None = None

    @asynccontextmanager
    async def beating(self) -> AsyncIterator["Heartbeat"]:
        """Look at the clock until the end of the context."""
        task = asyncio.ensure_future(self._beat())
        try:
            yield self
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            self._due = None

    def notice(self, late: float) -> None:
        """Remember that something of the suite itself came so many seconds late, just now."""
        if late >= _NOTICEABLE:
            self._noticed.append((self._now(), late))

    def late(self, since: float, *, until: float | None = None) -> float:
        """Give by how many seconds the suite was late since a time, and until one; at most what has passed between."""
        now = self._now()
        end = now if until is None else until
        noticed = sum(late for at, late in self._noticed if at >= since and at - late <= end)
        waiting = 0.0 if self._due is None or self._due > end else max(0.0, now - self._due - _NOTICEABLE)
        return min(noticed + waiting, max(0.0, end - since))

    def said(self, since: float) -> str:
        """Give a sentence for a finding; an empty one when the suite was hardly late since that time."""
        late = self.late(since)
        if late < _WORTH_SAYING:
            return ""
        return f"this machine was busy: the suite itself was {late:.1f} seconds late during this check"

    def longer(self, seconds: float, since: float, *, most: float | None = None) -> float:
        """Give the time that a wait since a time gets on this machine: at least `seconds`, at most three times."""
        return min(self._needed(seconds, since), _MOST * seconds if most is None else most)

    def fail(self, seconds: float, since: float, *, most: float | None = None) -> None:
        """Remember that a wait since a time has failed, if it got less time than this machine needs."""
        needed = self._needed(seconds, since)
        if needed > (_MOST * seconds if most is None else most):
            self._short.append((self._now(), needed / seconds))

    def unjudged(self, since: float) -> str:
        """Give why no time since then can be judged; an empty text where it can."""
        factors = [factor for at, factor in self._short if at >= since]
        if not factors:
            return ""
        return f"this machine takes {max(factors):.1f} times as long as usual, more than the suite waits: not judged"

    def repeat(self, seconds: float) -> None:
        """Remember that a call was made again, with more time, since it was not answered in so many seconds."""
        self._repeated.append((self._now(), seconds))

    def repeated(self, since: float) -> str:
        """Give what was not answered in time since then; an empty text where everything was."""
        missed = [seconds for at, seconds in self._repeated if at >= since]
        if not missed:
            return ""
        return (
            f"a call was not answered within {max(missed):.0f} seconds, and made again, since this machine is slower "
            "than usual: not judged"
        )

    async def within(
        self, seconds: float, wait: Callable[[float], Awaitable[_Found]], *, most: float | None = None
    ) -> _Found:
        """Wait for something, and as much longer as the suite was late meanwhile, or the machine is slow.

        Args:
            seconds: how long to wait on a machine that is not busy.
            wait: waits for at most so many seconds, and gives False or None when it did not come.
            most: most seconds altogether; unless said, three times as many.
        """
        since, given = self._now(), seconds
        found = await wait(seconds)
        while found is None or found is False:
            longer = self.longer(seconds, since, most=most)
            if longer - given < _BEAT:
                self.fail(seconds, since, most=most)
                break
            found = await wait(longer - given)
            given = longer
        return found

    def _needed(self, seconds: float, since: float) -> float:
        return max(seconds + self.late(since), seconds * self.slowness())

    async def _beat(self) -> None:
        while True:
            self._due = self._now() + _BEAT
            await asyncio.sleep(_BEAT)
            self.notice(self._now() - self._due)
