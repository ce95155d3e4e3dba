"""What came of bootstraps, by what machines reported, and how Prometheus reads it. A hint, as all reports are."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from slipway.reports.presentation import STATES

BUCKETS = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1200.0, 1800.0, 3600.0)
LONGEST_SECONDS = 6 * 3600
"""A machine's clock may jump, or its report be forged: no phase counts for more."""
REASONS = frozenset({"CommandFailed", "CommandTimedOut", "PayloadNotFetched", "StateNotWritten"})
"""Reasons that have a counter of their own: those of BootstrapEvent. A machine can write any other word."""

_OTHER = "Other"
_WORDS: Mapping[int, str] = {number: word for word, number in STATES.items()}
_COUNTED = ("complete", "failed")


@dataclass(slots=True)
class Outcomes:
    """Plain counters, which cost little where they are not scraped. Any thread may count.

    Attributes:
        results: bootstraps by state and reason, once for each bundle and state.
        durations: of each phase, as counts by upper bound of BUCKETS, the last one without bound.
        seconds: their sums.
    """

    results: Counter[tuple[str, str]] = field(default_factory=Counter)
    durations: dict[str, list[int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def count(
        self, state: int, reason: str, *, before: Collection[int], phases: Callable[[], Mapping[str, float]]
    ) -> None:
        """Count how a bootstrap ended, if it did, and the phases of one that is complete.

        Args:
            state: the ReportState.
            reason: why it failed.
            before: the states that the reports of the same bundle had before: each counts once.
            phases: gives the seconds of each phase.
        """
        word = _WORDS.get(state, "")
        if word not in _COUNTED or state in before:
            return
        known = reason if not reason or reason in REASONS else _OTHER
        with self._lock:
            self.results[word, known] += 1
            if word == "complete":
                for phase, seconds in phases().items():
                    self._observe(phase, min(seconds, LONGEST_SECONDS))

    def _observe(self, phase: str, seconds: float) -> None:
        place = next((index for index, limit in enumerate(BUCKETS) if seconds <= limit), len(BUCKETS))
        self.durations.setdefault(phase, [0] * (len(BUCKETS) + 1))[place] += 1
        self.seconds[phase] = self.seconds.get(phase, 0.0) + seconds


class OutcomesCollector:
    """A collector of prometheus_client, which is loaded only when the metrics are scraped."""

    def __init__(self, outcomes: Outcomes) -> None:
        """Collect these."""
        self._outcomes = outcomes

    def collect(self) -> Iterator[Any]:
        """Give the metrics as they are now."""
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily  # noqa: PLC0415  # prometheus_client: only a process that serves metrics loads it

        results = CounterMetricFamily(
            "slipway_reports_bootstraps", "Bootstraps that machines reported to have ended.", labels=["state", "reason"]
        )
        for (state, reason), number in sorted(self._outcomes.results.items()):
            results.add_metric([state, reason], number)
        yield results
        durations = HistogramMetricFamily(
            "slipway_reports_phase_seconds", "Time of the steps of a phase, of bootstraps that are complete.",
            labels=["phase"],
        )  # fmt: skip
        for phase, counts in sorted(self._outcomes.durations.items()):
            total, buckets = 0, []
            for limit, count in zip([*map(str, BUCKETS), "+Inf"], list(counts), strict=True):
                total += count
                buckets.append((limit, total))
            durations.add_metric([phase], buckets, self._outcomes.seconds[phase])
        yield durations
