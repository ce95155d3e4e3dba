"""What machines downloaded, and how Prometheus reads it. A label is never a name: no machine adds to what is kept."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 900.0)
KINDS = frozenset({"sha256", "payload"})
"""What is downloaded, by the first part of its path."""

SENT = "sent"
"""Result of a download that was answered to its end."""

_ABORTED = "aborted"
_RESULTS: Mapping[int, str] = {
    200: SENT,
    206: SENT,
    304: "not_modified",
    404: "not_found",
    416: "range_not_satisfiable",
    503: "unavailable",
}


@dataclass(slots=True)
class Transfer:
    """The result of one answer.

    Attributes:
        bytes: of the content that were sent.
        is_aborted: it ended before its end.
        is_busy: it was refused since its peer asks too often.
    """

    bytes: int = 0
    is_aborted: bool = False
    is_busy: bool = False


@dataclass(frozen=True, slots=True)
class Downloads:
    """Plain counters, which cost little where they are not scraped.

    Attributes:
        results: downloads by kind and result.
        bytes: of the content that were sent, by kind.
        durations: of those that were answered to their end, by kind, as counts by upper bound of BUCKETS, the last one
            without bound.
        seconds: their sums.
    """

    results: Counter[tuple[str, str]] = field(default_factory=Counter)
    bytes: Counter[str] = field(default_factory=Counter)
    durations: dict[str, list[int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def count(self, kind: str, status: int, transfer: Transfer, *, seconds: float) -> None:
        """Count an answer to a GET.

        Args:
            kind: one of KINDS; any other is not counted.
            status: of the answer.
            transfer: its result.
            seconds: from the request's head to the end of the answer.
        """
        if kind not in KINDS:
            return
        result = _result(status, transfer)
        self.results[kind, result] += 1
        self.bytes[kind] += transfer.bytes
        if result == SENT:
            place = next((index for index, limit in enumerate(BUCKETS) if seconds <= limit), len(BUCKETS))
            self.durations.setdefault(kind, [0] * (len(BUCKETS) + 1))[place] += 1
            self.seconds[kind] = self.seconds.get(kind, 0.0) + seconds


def _result(status: int, transfer: Transfer) -> str:
    if transfer.is_aborted:
        return _ABORTED
    if transfer.is_busy:
        return "busy"
    return _RESULTS.get(status, _ABORTED)


class DownloadsCollector:
    """A collector of prometheus_client, which is loaded only when the metrics are scraped."""

    def __init__(self, downloads: Downloads) -> None:
        """Collect these."""
        self._downloads = downloads

    def collect(self) -> Iterator[Any]:
        """Give the metrics as they are now."""
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily  # noqa: PLC0415  # prometheus_client: only a process that serves metrics loads it

        results = CounterMetricFamily(
            "slipway_node_gateway_downloads", "Downloads of machines.", labels=["kind", "result"]
        )
        for (kind, result), number in sorted(self._downloads.results.items()):
            results.add_metric([kind, result], number)
        yield results
        sent = CounterMetricFamily(
            "slipway_node_gateway_download_bytes", "Bytes of content that machines were sent.", labels=["kind"]
        )
        for kind, number in sorted(self._downloads.bytes.items()):
            sent.add_metric([kind], number)
        yield sent
        durations = HistogramMetricFamily(
            "slipway_node_gateway_download_seconds", "Time of a download that was sent to its end.", labels=["kind"]
        )
        for kind, counts in sorted(self._downloads.durations.items()):
            total, buckets = 0, []
            for limit, count in zip([*map(str, BUCKETS), "+Inf"], list(counts), strict=True):
                total += count
                buckets.append((limit, total))
            durations.add_metric([kind], buckets, self._downloads.seconds[kind])
        yield durations
