"""Reports go when they are old, and the oldest go when all together are too large.

Each replica does this by itself: names have the time, and who finds an object deleted already has nothing to do. Two
passes over the names need memory for a number of each hour only.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import structlog

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.names import ROOT, Entry
from slipway.reports.objects import Objects

_HOUR = 3_600_000
_log = structlog.get_logger("slipway.reports")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is kept.

    Attributes:
        days: the age of the oldest report.
        bytes: of all reports.
    """

    days: float
    bytes: int


class Retention:
    """Deletes what is beyond the limits."""

    def __init__(self, objects: Objects, limits: Limits, milliseconds: Callable[[], int]) -> None:
        """Sweep an object store; the clock gives milliseconds since 1970 (UTC)."""
        self._objects = objects
        self._limits = limits
        self._milliseconds = milliseconds

    async def run(self, seconds: float) -> None:
        """Sweep for ever, about every so many seconds; a store that fails is tried again at the next time."""
        while True:
            # Replicas that started together do not stay together.
            await asyncio.sleep(seconds * random.uniform(0.5, 1.0))  # noqa: S311  # spreads load, hides nothing
            try:
                deleted = await self.sweep()
            except ReportsUnavailable as error:
                _log.warning("sweep of reports failed", error=error.message)
                continue
            if deleted:
                _log.info("old reports deleted", count=deleted)

    async def sweep(self) -> int:
        """Delete what is beyond the limits; give the number of objects.

        Raises:
            ReportsUnavailable: the store failed; what was deleted is gone.
        """
        return await self._objects.run(self._sweep)

    def _sweep(self) -> int:
        oldest = self._milliseconds() - int(self._limits.days * 24 * _HOUR)
        sizes: Counter[int] = Counter()
        for entry in self._entries():
            sizes[entry.name.milliseconds // _HOUR] += entry.bytes
        first = oldest // _HOUR
        total = 0
        for hour in sorted(sizes, reverse=True):
            total += sizes[hour]
            if total > self._limits.bytes:
                # The hour that does not fit goes as a whole: what is kept is never beyond the limit.
                first = max(first, hour + 1)
                break
        deleted = 0
        for entry in self._entries():
            if entry.name.milliseconds < max(oldest, first * _HOUR):
                self._objects.delete(entry.path)
                deleted += 1
        return deleted

    def _entries(self) -> Iterator[Entry]:
        for path, size in self._objects.paths(ROOT):
            entry = Entry.of(path, size)
            if entry is not None:
                yield entry
