"""What is recorded of a call: a closed list, with the right code, and nothing that was said in it."""

import asyncio
import sys
import urllib.request
from collections.abc import Mapping

import pytest
import structlog
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest

from slipway.contract.errors import ForeignStatus, NoReadyProvisioner, SlipwayError, SpecInvalid
from slipway.contract.status import Failure
from slipway.rpc import ServicerContext
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.otlp import OtlpRecorder
from slipway.rpc.prometheus import PrometheusRecorder
from slipway.rpc.telemetry import configured_recorders
from slipway.v1alpha1.reasons import Code
from tests.sdk.rpc.conftest import SERVICE, Probe, Running, settings, unary

CANARY = "S3CR3T-canary"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT = "00f067aa0ba902b7"


class Traced:
    """A recorder whose spans and metrics stay in memory."""

    def __init__(self) -> None:
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        traces = TracerProvider()
        traces.add_span_processor(SimpleSpanProcessor(self._spans))
        self.recorder = OtlpRecorder(traces=traces, metrics=MeterProvider(metric_readers=[self._reader]))

    def spans(self) -> list[Mapping[str, object]]:
        return [
            {
                "name": span.name,
                "parent": None if span.parent is None else format(span.parent.span_id, "016x"),
                "trace": format(span.context.trace_id, "032x"),
                "status": span.status.status_code.name,
                "events": len(span.events),
                **dict(span.attributes or {}),
            }
            for span in self._spans.get_finished_spans()
        ]

    def metrics(self) -> str:
        data = self._reader.get_metrics_data()
        return "" if data is None else str(data.to_json())


@pytest.mark.parametrize(
    ("failure", "code", "reason", "status", "why"),
    [
        (SpecInvalid(CANARY), 3, "SPEC_INVALID", "UNSET", "the caller's fault is no error of the server"),
        (NoReadyProvisioner(CANARY), 14, "NO_READY_PROVISIONER", "ERROR", "the server could not"),
        (ValueError(CANARY), 13, "INTERNAL", "ERROR", "a defect"),
    ],
)
async def test_a_span_has_code_and_reason_and_no_text(  # noqa: PLR0913  # a table
    running: Running, probe: Probe, *, failure: Exception, code: int, reason: str, status: str, why: str
) -> None:
    """The outcome is the mapped one; the exception's text is neither in the span nor in the metrics."""
    probe.failure, traced = failure, Traced()
    async with running(recorders=[traced.recorder]) as (_, channel):
        with pytest.raises(SlipwayError):
            await invoke(unary(channel, "Fail"), CANARY.encode(), timeout=5)
        # The caller has its answer before the server's last stage has ended.
        while not (spans := traced.spans()) or not (metrics := traced.metrics()):  # noqa: ASYNC110  # no event to wait for
            await asyncio.sleep(0)
    (span,) = spans
    assert span["name"] == f"{SERVICE}/Fail"
    assert (span["rpc.grpc.status_code"], span["slipway.reason"], span["status"]) == (code, reason, status), why
    assert span["events"] == 0, why
    assert CANARY not in str(span) + metrics, why
    assert "rpc.server.duration" in metrics


async def test_one_trace_goes_through_all_servers(running: Running, probe: Probe) -> None:
    """The caller's trace is taken over, and calls made while serving carry it on with the request id."""
    traced = Traced()
    pool = ChannelPool(tls=None, trust_domain="slipway")
    port = 0

    async def forward(request: bytes, context: ServicerContext) -> bytes:
        return await invoke(unary(pool.get(f"127.0.0.1:{port}"), "Echo"), request, timeout=5)

    probe.wait = forward  # type: ignore[method-assign]
    async with running(recorders=[traced.recorder]) as (server, channel):
        port = server.port
        metadata = (("traceparent", f"00-{TRACE}-{PARENT}-01"), ("x-request-id", "one-id"))
        assert await channel.unary_unary(f"/{SERVICE}/Wait")(b"x", timeout=5, metadata=metadata) == b"x"
        await pool.close()
    inner, outer = traced.spans()
    assert (outer["trace"], outer["parent"], inner["trace"]) == (TRACE, PARENT, TRACE)
    assert inner["parent"] not in (PARENT, None)
    assert probe.seen["x-request-id"] == "one-id"


async def test_prometheus_text_is_served_when_configured(running: Running, probe: Probe, unused_port: int) -> None:
    """A scrape shows durations by method, code and reason; methods that nobody serves make no new series."""
    recorders = configured_recorders(settings(metrics_address=f"127.0.0.1:{unused_port}"), service="test")
    async with running(recorders=recorders) as (_, channel):
        await invoke(unary(channel, "Echo"), CANARY.encode(), timeout=5)
        with pytest.raises(SlipwayError):
            await invoke(unary(channel, "Fail"), b"", timeout=5)
        with pytest.raises(SlipwayError):
            await invoke(unary(channel, CANARY), b"", timeout=5)
        # The caller has its answer before the server's last stage has ended.
        while 'rpc_method="unknown"' not in (text := await asyncio.to_thread(_fetch, unused_port)):
            pass
    labels = f'code="%s",reason="%s",rpc_method="%s",rpc_service="{SERVICE}"'
    series = f"slipway_rpc_server_duration_seconds_count{{{labels}}} 1.0"
    assert series % ("OK", "", "Echo") in text
    assert series % ("INVALID_ARGUMENT", "BUNDLE_INVALID", "Fail") in text
    assert "process_resident_memory_bytes" in text
    assert CANARY not in text


async def test_relayed_reason_makes_no_series(running: Running, probe: Probe) -> None:
    """A reason that is not of the error table is in the span and counts as Other: its author must not choose labels."""
    probe.failure, traced = ForeignStatus(Failure(Code.UNAVAILABLE, "", "MADE_UP")), Traced()
    registry = CollectorRegistry()
    async with running(recorders=[PrometheusRecorder(registry), traced.recorder]) as (_, channel):
        with pytest.raises(SlipwayError):
            await invoke(unary(channel, "Fail"), b"", timeout=5)
        # The caller has its answer before the server's last stage has ended.
        while not (spans := traced.spans()) or not (metrics := traced.metrics()):  # noqa: ASYNC110  # no event to wait for
            await asyncio.sleep(0)
    (span,) = spans
    assert span["slipway.reason"] == "MADE_UP"
    text = metrics + generate_latest(registry).decode()
    assert "MADE_UP" not in text
    assert 'reason="Other"' in text
    assert '"slipway.reason": "Other"' in text


def _fetch(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer:
        return str(answer.read(), "utf-8")


def test_nothing_is_recorded_unless_configured() -> None:
    """Without settings there is no recorder, so that neither memory nor time is spent."""
    assert configured_recorders(settings(), service="test") == []


def test_traces_without_the_extra_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A configured endpoint that cannot be served is an error at the start, not silence."""
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.metric_exporter", None)
    with pytest.raises(ImportError, match=r"slipway-sdk\[otlp\]"):
        configured_recorders(settings(otlp_endpoint="http://127.0.0.1:4317"), service="test")


async def test_health_is_not_recorded(running: Running, probe: Probe) -> None:
    """Probes every few seconds would bury the calls that matter, in logs too."""
    prometheus = pytest.importorskip("prometheus_client")
    registry = prometheus.CollectorRegistry()
    with structlog.testing.capture_logs() as logs:
        async with running(recorders=[PrometheusRecorder(registry)]) as (_, channel):
            await channel.unary_unary("/grpc.health.v1.Health/Check")(b"", timeout=5)
    assert b"grpc.health" not in prometheus.generate_latest(registry)
    assert [entry["log_level"] for entry in logs if entry["event"] == "call ended"] == ["debug"]
