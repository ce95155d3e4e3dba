"""Bounds the memory of the Secrets and ConfigMaps that configs refer to, of all configs that are worked on at a time.

A config of a hundred bytes may refer to 4 MiB, and as many are worked on as there are workers. What does not fit is not
waited for, so that it holds no worker: it is requeued. Of large specs the controller works on one at a time.
"""

from collections.abc import Iterator
from contextlib import contextmanager

SECRET_BYTES = 16 * 1024 * 1024
"""Bytes at a time."""

REQUEUE_SECONDS = 0.5
"""When a config is tried again that did not fit."""


class BudgetExceeded(Exception):  # noqa: N818  # it is no error: the config is requeued
    """The work does not fit beside what is in progress."""


class WorkBudget:
    """Bytes that may be in progress at a time. What has more by itself is worked on alone."""

    def __init__(self, limit: int) -> None:
        """Allow so many bytes."""
        self._limit = limit
        self._in_progress = 0

    @contextmanager
    def hold(self, size: int) -> Iterator[None]:
        """Count so many bytes as in progress during the block.

        Raises:
            BudgetExceeded: they do not fit now.
        """
        if self._in_progress and self._in_progress + size > self._limit:
            raise BudgetExceeded
        self._in_progress += size
        try:
            yield
        finally:
            self._in_progress -= size
