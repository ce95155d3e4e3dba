"""Bounds the memory of the Secrets and ConfigMaps that configs refer to, of all configs that are worked on at a time.

A config of a hundred bytes may refer to 4 MiB, and as many are worked on as there are workers. How much it is is known
when it is read: so an object is read when there is room for the largest, and counts from then on. What does not fit is
not waited for, so that it holds no worker: it is requeued. Of large specs the controller works on one at a time.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

REFERENCED_BYTES = 16 * 1024 * 1024
"""Bytes at a time."""

OBJECT_BYTES = 1024 * 1024
"""Most that a Secret or ConfigMap holds: MaxSecretSize of the API's validation."""

REQUEUE_SECONDS = 0.5
"""When a config is tried again that did not fit."""

_READS = 4
"""Objects that are read at a time: an answer has its values once more, with those to which nothing refers."""


class BudgetExceeded(Exception):  # noqa: N818  # it is no error: the config is requeued
    """The work does not fit beside what is in progress."""


class WorkBudget:
    """Bytes that may be in progress at a time. What has more by itself is worked on alone."""

    def __init__(self, limit: int) -> None:
        """Allow so many bytes."""
        self._limit = limit
        self._in_progress = 0
        self._turns = asyncio.Semaphore(_READS)

    @contextmanager
    def share(self) -> Iterator["Share"]:
        """Count what a config takes as in progress during the block."""
        share = Share(self)
        try:
            yield share
        finally:
            self._in_progress -= share.size


class Share:
    """What one config has of the budget."""

    def __init__(self, budget: WorkBudget) -> None:
        """Have nothing yet."""
        self.size = 0
        self._budget = budget

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Have a turn to read one object during the block, and take what is used of it.

        Raises:
            BudgetExceeded: the largest object does not fit now.
        """
        async with self._budget._turns:  # noqa: SLF001  # one thing with its budget
            self._check(OBJECT_BYTES)
            yield

    def take(self, size: int) -> None:
        """Count so many bytes more.

        Raises:
            BudgetExceeded: they do not fit now.
        """
        self._check(size)
        self.size += size
        self._budget._in_progress += size  # noqa: SLF001  # a share is a part of its budget

    def _check(self, size: int) -> None:
        in_progress = self._budget._in_progress  # noqa: SLF001  # a share is a part of its budget
        if in_progress > self.size and in_progress + size > self._budget._limit:  # noqa: SLF001  # a share is a part of its budget
            raise BudgetExceeded
