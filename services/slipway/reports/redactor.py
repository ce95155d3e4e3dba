"""Redaction of log bundles, in a process of its own."""

from slipway.reports.bundle_program import BundleProgram

_SECONDS = 120.0
_LARGEST = 8 * 2**20
"""Bytes of a bundle after it."""


class Redactor:
    """Removes secrets from log bundles."""

    def __init__(self, *, seconds: float = _SECONDS, largest: int = _LARGEST) -> None:
        """Bound the time of each bundle, and its size afterwards; one is redacted at a time."""
        self._program = BundleProgram("slipway.reports.redaction", "redacted", seconds=seconds, largest=largest)

    async def redact(self, data: bytes) -> bytes:
        """Give a log bundle without secrets.

        Raises:
            BundleRefused: it is no log bundle, or takes too much.
            ReportsUnavailable: it could not be redacted, for a reason that is not the bundle's.
        """
        return await self._program.run(data)
