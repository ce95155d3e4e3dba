"""What is done with logs when they arrive: secrets are removed, and what they say of the machine's failure is found.

Who reads a condition sees that without the logs. It is the same diagnosis as everywhere, and a hint: where it fails the
logs are kept without it. Both are done in processes of their own.
"""

import asyncio

import structlog

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.bundle_program import BundleProgram
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.log_reader import LogReader, Request

_DIAGNOSIS_SECONDS = 60.0
"""How long logs wait for their diagnosis, and for those before them: a machine ends its upload after 120 seconds."""
_REDACTION_SECONDS = 120.0
_LARGEST = 8 * 2**20
"""Bytes of a bundle without its secrets."""
_log = structlog.get_logger("slipway.reports")


class Diagnoser:
    """Diagnoses log bundles, one at a time."""

    def __init__(self, reader: LogReader | None = None, *, seconds: float = _DIAGNOSIS_SECONDS) -> None:
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


class Redactor:
    """Removes secrets from log bundles."""

    def __init__(self, *, seconds: float = _REDACTION_SECONDS, largest: int = _LARGEST) -> None:
        """Bound the time of each bundle, and its size afterwards; one is redacted at a time."""
        self._program = BundleProgram("slipway.reports.redaction", "redacted", seconds=seconds, largest=largest)

    async def redact(self, data: bytes) -> bytes:
        """Give a log bundle without secrets.

        Raises:
            BundleRefused: it is no log bundle, or takes too much.
            ReportsUnavailable: it could not be redacted, for a reason that is not the bundle's.
        """
        return await self._program.run(data)
