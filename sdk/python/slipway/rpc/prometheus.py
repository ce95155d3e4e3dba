"""Metrics as Prometheus text over HTTP. Imported only when a metrics address is configured."""

from collections.abc import Mapping, Sequence

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from slipway.rpc.addresses import host_of
from slipway.rpc.call import Call
from slipway.rpc.metrics_port import MetricsPort

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class PrometheusRecorder:
    """A histogram of call durations in seconds, by service, method, code and reason."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._durations = Histogram(
            "slipway_rpc_server_duration_seconds",
            "Time from the start of a call's handler to its end.",
            ("rpc_service", "rpc_method", "code", "reason"),
            registry=registry,
            buckets=_BUCKETS,
        )
        self._http: MetricsPort | None = None

    @classmethod
    def serving(cls, address: str, collectors: Sequence[Collector] = ()) -> "PrometheusRecorder":
        """Make one with a registry of its own, process metrics included, and serve it at "host:port"."""
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        PlatformCollector(registry=registry)
        for collector in collectors:
            registry.register(collector)
        recorder = cls(registry)
        port = int(address.rpartition(":")[2])
        recorder._http = MetricsPort(registry, host=host_of(address) or "0.0.0.0", port=port)  # noqa: S104  # an address without a host means all interfaces
        return recorder

    @property
    def port(self) -> int | None:
        """The port that it is served at."""
        return self._http.port if self._http else None

    def started(self, call: Call, metadata: Mapping[str, str]) -> object:
        """Nothing to do: the duration is known at the end."""
        del call, metadata
        return None

    def finished(self, call: Call, token: object, *, seconds: float) -> None:
        """Observe the duration."""
        del token
        self._durations.labels(call.service, call.method, call.code.name, call.reason_label).observe(seconds)

    def close(self) -> None:
        """Stop serving."""
        if self._http is not None:
            self._http.close()
