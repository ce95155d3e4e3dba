"""What the logs of a machine say of its failure, found when they arrive: who reads a condition sees it without them.

The same diagnosis as everywhere, in a process of its own. It is a hint: where it fails the logs are kept without it.
"""

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.log_reader import LogReader, Request


class Diagnoser:
    """Diagnoses log bundles, one at a time."""

    def __init__(self, reader: LogReader | None = None) -> None:
        """Read them with the usual bounds, unless it is given."""
        self._reader = LogReader() if reader is None else reader

    async def reason(self, bundle: bytes) -> str:
        """Give the first reason that is found in a bundle; empty where there is none, or where it cannot be read."""
        try:
            reading = await self._reader.read(Request(diagnosis=True), bundle)
        except (BundleRefused, ReportsUnavailable):
            return ""
        findings = [] if reading.diagnosis is None else reading.diagnosis["findings"]
        return str(findings[0]["reason"]) if findings else ""
