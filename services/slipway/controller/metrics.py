"""What the controller counts, and how Prometheus reads it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class Metrics:
    """Plain counters, which cost little where they are not scraped.

    Attributes:
        renders: renders whose Secret was stored.
        halts: how often a config could not go on, by reason.
        reconciles: durations of reconciles in seconds, as counts by upper bound of BUCKETS, the last one without bound.
        seconds: their sum.
        leading: whether this replica writes.
    """

    renders: int = 0
    halts: dict[str, int] = field(default_factory=dict)
    reconciles: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0
    leading: bool = False

    def reconciled(self, seconds: float) -> None:
        """Count one reconcile."""
        place = next((index for index, limit in enumerate(BUCKETS) if seconds <= limit), len(BUCKETS))
        self.reconciles[place] += 1
        self.seconds += seconds


@dataclass(frozen=True, slots=True)
class Load:
    """The work with configs of one kind at a moment.

    Attributes:
        kind: their kind.
        waiting: how many wait for a worker.
        delayed: how many are due later.
        working: how many are worked on.
        halted: how many cannot go on, by the last reason of each. Reasons are classes and enum values of this program.
    """

    kind: str
    waiting: int = 0
    delayed: int = 0
    working: int = 0
    halted: Mapping[str, int] = field(default_factory=dict)


Loads = Callable[[], Iterable[Load]]
Calls = Callable[[], dict[tuple[str, str, int], int]]


class MetricsCollector:
    """A collector of prometheus_client, which is loaded only when the metrics are scraped."""

    def __init__(self, metrics: Metrics, *, loads: Loads, calls: Calls) -> None:
        """Collect the metrics, the work that there is, and the calls of the management cluster."""
        self._metrics = metrics
        self._loads = loads
        self._calls = calls

    def collect(self) -> Iterator[Any]:
        """Give the metrics as they are now."""
        from prometheus_client.core import (  # noqa: PLC0415  # prometheus_client: only a process that serves metrics loads it
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        yield GaugeMetricFamily(
            "slipway_controller_leading", "1 where this replica writes.", int(self._metrics.leading)
        )
        queues = {
            part: GaugeMetricFamily(f"slipway_controller_{name}", text, labels=["kind"])
            for part, name, text in (
                ("waiting", "queue_length", "Configs that wait for a worker."),
                ("delayed", "delayed", "Configs that are due later, after a failure or to renew a token."),
                ("working", "in_progress", "Configs that are worked on."),
            )
        }
        halted = GaugeMetricFamily(
            "slipway_controller_halted",
            "Configs that cannot go on now, by their last reason.",
            labels=["kind", "reason"],
        )
        for load in self._loads():
            for part, family in queues.items():
                family.add_metric([load.kind], getattr(load, part))
            for reason, number in sorted(load.halted.items()):
                halted.add_metric([load.kind, reason], number)
        yield from queues.values()
        yield halted
        yield CounterMetricFamily("slipway_controller_renders", "Renders that were stored.", self._metrics.renders)
        halts = CounterMetricFamily(
            "slipway_controller_halts", "How often a config could not go on.", labels=["reason"]
        )
        for reason, count in sorted(self._metrics.halts.items()):
            halts.add_metric([reason], count)
        yield halts
        calls = CounterMetricFamily(
            "slipway_controller_api_calls", "Calls of the management cluster.", labels=["verb", "kind", "status"]
        )
        for (verb, kind, status), count in sorted(self._calls().items()):
            calls.add_metric([verb, kind, str(status)], count)
        yield calls
        durations = HistogramMetricFamily("slipway_controller_reconcile_seconds", "Time of one reconcile.")
        total, buckets = 0, []
        for limit, count in zip([*map(str, BUCKETS), "+Inf"], self._metrics.reconciles, strict=True):
            total += count
            buckets.append((limit, total))
        durations.add_metric([], buckets, self._metrics.seconds)
        yield durations
