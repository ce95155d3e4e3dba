"""What the logs of a machine say of its failure, found when they arrive: who reads a condition sees it without them.

The same diagnosis as everywhere, in a process of its own. It is a hint: where it fails the logs are kept without it.
"""

import asyncio

import structlog

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.log_reader import LogReader, Request

_SECONDS = 60.0
"""How long logs wait for their diagnosis, and for those before them: a machine ends its upload after 120 seconds."""
_log = structlog.get_logger("slipway.reports")


class Diagnoser:
    """Diagnoses log bundles, one at a time."""

    def __init__(self, reader: LogReader | None = None, *, seconds: float = _SECONDS) -> None:
        """Read them with the usual bounds, unless it is given; none waits longer than so many seconds."""
        self._reader = LogReader() if reader is None else reader
        self._seconds = seconds

    async def reason(self, bundle: bytes) -> str:
        """Give the first reason that is found in a bundle; empty where it has none, or cannot be read in time."""
        try:
            async with asyncio.timeout(self._seconds):
                reading = await self._reader.read(Request(diagnosis=True), bundle)
        except TimeoutError:
            _log.warning("logs kept without a diagnosis, which took too long", seconds=self._seconds)
            return ""
        except (BundleRefused, ReportsUnavailable):
            return ""
        findings = [] if reading.diagnosis is None else reading.diagnosis["findings"]
        return str(findings[0]["reason"]) if findings else ""
