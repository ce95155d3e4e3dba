"""Traces and metrics by OpenTelemetry. Imported only when an OTLP endpoint is configured."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.metrics import MeterProvider
from opentelemetry.sdk.metrics import MeterProvider as SdkMeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from slipway.rpc.call import Call
from slipway.rpc.spans import Attributes, end_spans, export_spans, trace_headers, trace_id
from slipway.v1alpha1.reasons import Code

_NAME = "slipway"
Headers = tuple[tuple[str, str], ...]
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
            from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import (  # noqa: PLC0415  # an optional dependency
                OTLPMetricExporter,
            )
            from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import (  # noqa: PLC0415  # an optional dependency
                OTLPSpanExporter,
            )
        except ImportError:
            raise ImportError("an OTLP endpoint is configured: install slipway-sdk[otlp]") from None
        resource = Resource.create({"service.name": service})
        traces = SdkTracerProvider(resource=resource)
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=endpoint)))
        reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=endpoint))
        made = cls(traces=traces, metrics=SdkMeterProvider(metric_readers=[reader], resource=resource))
        export_spans(made.inner)
        return made

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
        tokens = self._enter(span)
        call.trace_id = trace_id()
        return span, *tokens

    def finished(self, call: Call, token: object, *, seconds: float) -> None:
        """End the span and observe the duration."""
        span, headers, context = _started(token)
        _leave(headers, context)
        outcome: dict[str, str | int] = {"rpc.grpc.status_code": int(call.code), "slipway.reason": call.reason}
        span.set_attributes(outcome)
        if call.code in _SERVER_FAULTS:
            span.set_status(Status(StatusCode.ERROR))
        span.end()
        names: dict[str, str | int] = {"rpc.service": call.service, "rpc.method": call.method}
        self._durations.record(seconds, attributes=names | outcome | {"slipway.reason": call.reason_label})

    @contextmanager
    def inner(self, name: str, attributes: Attributes) -> Iterator[None]:
        """Measure a block of work as a span below the current one; see spans.py."""
        span = self._tracer.start_span(
            name,
            attributes={f"slipway.{key}": value for key, value in attributes.items()},
            record_exception=False,
            set_status_on_exception=False,
        )
        headers, context = self._enter(span)
        try:
            yield
        except Exception:
            span.set_status(Status(StatusCode.ERROR))
            raise
        finally:
            _leave(headers, context)
            span.end()

    def _enter(self, span: Span) -> tuple[Token[Headers], Token[Context]]:
        """Make a span the one below which others begin, here and in the servers that are called."""
        context = trace.set_span_in_context(span)
        headers: dict[str, str] = {}
        self._propagator.inject(headers, context=context)
        return trace_headers.set(tuple(headers.items())), contexts.attach(context)

    def close(self) -> None:
        """Send what is left."""
        end_spans(self.inner)
        for provider in self._providers:
            if isinstance(provider, SdkTracerProvider | SdkMeterProvider):
                provider.shutdown()


def _leave(headers: Token[Headers], context: Token[Context]) -> None:
    trace_headers.reset(headers)
    contexts.detach(context)


def _started(token: object) -> tuple[Span, Token[Headers], Token[Context]]:
    if not isinstance(token, tuple):
        raise TypeError("a token of another recorder")
    return token
