"""Traces and metrics by OpenTelemetry. Imported only when an OTLP endpoint is configured."""

from collections.abc import Mapping
from contextvars import Token

from opentelemetry import trace
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from slipway.rpc.call import Call
from slipway.rpc.trace_context import trace_headers
from slipway.v1alpha1.reasons import Code

_NAME = "slipway"
_SERVER_FAULTS = frozenset(
    {Code.UNKNOWN, Code.DEADLINE_EXCEEDED, Code.UNIMPLEMENTED, Code.INTERNAL, Code.UNAVAILABLE, Code.DATA_LOSS}
)
"""Codes that make a server span an error, as OpenTelemetry's conventions for RPC say."""


class OtlpRecorder:
    """A server span and a duration for each call, named as OpenTelemetry's conventions for RPC say."""

    def __init__(self, *, traces: TracerProvider, metrics: MeterProvider) -> None:
        self._providers = (traces, metrics)
        self._tracer = traces.get_tracer(_NAME)
        self._durations = metrics.get_meter(_NAME).create_histogram("rpc.server.duration", unit="s")
        self._propagator = TraceContextTextMapPropagator()

    @classmethod
    def exporting(cls, endpoint: str, *, service: str) -> "OtlpRecorder":
        """Make one that exports to an OTLP collector by gRPC.

        Raises:
            ImportError: the extra ``slipway-sdk[otlp]`` is not installed.
        """
        try:
            from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (  # noqa: PLC0415
                OTLPMetricExporter,
            )
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415
                OTLPSpanExporter,
            )
        except ImportError:
            raise ImportError("an OTLP endpoint is configured: install slipway-sdk[otlp]") from None
        resource = Resource.create({"service.name": service})
        traces = SdkTracerProvider(resource=resource)
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint))
        return cls(traces=traces, metrics=SdkMeterProvider(metric_readers=[reader], resource=resource))

    def started(self, call: Call, metadata: Mapping[str, str]) -> object:
        """Start the span below the caller's and make it the one that further calls carry."""
        parent = self._propagator.extract(dict(metadata))
        span = self._tracer.start_span(
            f"{call.service}/{call.method}",
            context=parent,
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
            attributes={"rpc.system": "grpc", "rpc.service": call.service, "rpc.method": call.method},
        )
        headers: dict[str, str] = {}
        self._propagator.inject(headers, context=trace.set_span_in_context(span))
        return span, trace_headers.set(tuple(headers.items()))

    def finished(self, call: Call, token: object, *, seconds: float) -> None:
        """End the span and observe the duration."""
        span, headers = _started(token)
        trace_headers.reset(headers)
        outcome: dict[str, str | int] = {"rpc.grpc.status_code": int(call.code), "slipway.reason": call.reason}
        span.set_attributes(outcome)
        if call.code in _SERVER_FAULTS:
            span.set_status(Status(StatusCode.ERROR))
        span.end()
        names: dict[str, str | int] = {"rpc.service": call.service, "rpc.method": call.method}
        self._durations.record(seconds, attributes=names | outcome)

    def close(self) -> None:
        """Send what is left."""
        for provider in self._providers:
            if isinstance(provider, SdkTracerProvider | SdkMeterProvider):
                provider.shutdown()


def _started(token: object) -> tuple[Span, Token[tuple[tuple[str, str], ...]]]:
    if not isinstance(token, tuple):
        raise TypeError("a token of another recorder")
    return token
