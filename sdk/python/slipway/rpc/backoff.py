"""Growing pauses between attempts, with jitter, so that a registry that comes back is not stormed."""

import random

FIRST_SECONDS = 0.2
URGENT_SECONDS = 2.0
"""Longest pause when the other side is only away: provisioners must be back within 15 s of a registry's restart."""

PATIENT_SECONDS = 30.0
"""Longest pause when a person has to change something first."""


class Backoff:
    """Pauses that double."""

    def __init__(self) -> None:
        """Start with the shortest pause."""
        self._seconds = FIRST_SECONDS

    def next(self, *, urgent: bool) -> float:
        """Give the next pause in seconds: from half of it to all of it."""
        limit = URGENT_SECONDS if urgent else PATIENT_SECONDS
        seconds = min(self._seconds, limit)
        self._seconds = min(self._seconds * 2, PATIENT_SECONDS)
        return seconds * (0.5 + random.random() / 2)  # noqa: S311  # spreads load, hides nothing

    def reset(self) -> None:
        """Start again with the shortest pause."""
        self._seconds = FIRST_SECONDS
