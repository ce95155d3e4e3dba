"""The keys that have to be looked at: each once, never by two workers at the same time, failing ones ever later."""

import asyncio
import random
from collections import OrderedDict
from typing import Generic, TypeVar

K = TypeVar("K")

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 300.0


class WorkQueue(Generic[K]):
    """A queue without doubles. A key that comes while it is worked on is looked at once more afterwards."""

    def __init__(self) -> None:
        """Start empty."""
        self._waiting: OrderedDict[K, None] = OrderedDict()
        self._working: set[K] = set()
        self._again: set[K] = set()
        self._failures: dict[K, int] = {}
        self._later: dict[K, asyncio.TimerHandle] = {}
        self._arrived = asyncio.Condition()
        self._wakeups: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        """How many wait."""
        return len(self._waiting)

    @property
    def working(self) -> int:
        """How many are worked on."""
        return len(self._working)

    @property
    def delayed(self) -> int:
        """How many are due later: after a failure, or when a token is to be renewed."""
        return len(self._later)

    def add(self, key: K) -> None:
        """Look at a key as soon as can be."""
        timer = self._later.pop(key, None)
        if timer is not None:
            timer.cancel()
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting[key] = None
            self._wake()

    def add_after(self, key: K, seconds: float) -> None:
        """Look at a key after so many seconds, unless something else has it looked at before."""
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        timer = self._later.get(key)
        if timer is not None:
            if timer.when() <= due:
                return
            timer.cancel()
        self._later[key] = loop.call_at(due, self._due, key)

    def add_failed(self, key: K) -> float:
        """Look at a key again after a pause that grows with each failure; give the pause."""
        count = self._failures[key] = self._failures.get(key, 0) + 1
        pause = min(_FIRST_PAUSE * 2.0 ** min(count - 1, 20), _LONGEST_PAUSE)
        pause *= 0.75 + random.random() / 4  # noqa: S311  # spreads load, hides nothing
        self.add_after(key, pause)
        return pause

    def forget(self, key: K) -> None:
        """Forget the failures of a key."""
        self._failures.pop(key, None)

    async def take(self) -> K:
        """Wait for a key and take it; `done` gives it back."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: bool(self._waiting))
            key, _ = self._waiting.popitem(last=False)
            self._working.add(key)
            return key

    def done(self, key: K) -> None:
        """Note that a key was looked at."""
        self._working.discard(key)
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _due(self, key: K) -> None:
        self._later.pop(key, None)
        self.add(key)

    def _wake(self) -> None:
        task = asyncio.ensure_future(self._notify())
        self._wakeups.add(task)
        task.add_done_callback(self._wakeups.discard)

    async def _notify(self) -> None:
        async with self._arrived:
            self._arrived.notify()
