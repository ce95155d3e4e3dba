"""Bounds the memory of configs that are worked on at the same time: a tenant can write many that are large.

A config of 1.5 MB, the largest that an API server stores, takes up to 280 MiB while it is compiled, and as many configs
are worked on at a time as there are workers. What does not fit is not waited for, so that it holds no worker: it is
requeued.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from slipway.kubernetes_api.resources import Json

SPEC_BYTES = 2_000_000
"""Bytes of all specs, as JSON, that are worked on at a time; a usual one has 10,000."""

SECRET_BYTES = 16 * 1024 * 1024
"""Bytes of the Secrets and ConfigMaps that they refer to."""

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


def spec_bytes(config: Json) -> int:
    """Return the size of a config's spec as JSON, in bytes of ASCII."""
    return len(json.dumps(config.get("spec") or {}))
