"""Time, as the registry uses it, so that tests can let it pass."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Two times: one for leases, one for people."""

    def monotonic(self) -> float:
        """Give seconds that never go back. Leases are compared with this one only."""

    def now(self) -> datetime:
        """Give the time of day, for display."""


class SystemClock:
    """The clock of this machine."""

    def monotonic(self) -> float:
        """Give seconds since some moment."""
        return time.monotonic()

    def now(self) -> datetime:
        """Give the time of day in UTC."""
        return datetime.now(UTC)
