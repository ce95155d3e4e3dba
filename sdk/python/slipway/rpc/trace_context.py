"""The current span, as calls carry it to other servers; apart, so that who reads it loads no exporter."""

from contextvars import ContextVar

trace_headers: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("trace_headers", default=())
"""Metadata that carries the current span to the servers that this call calls."""

_PARENT = "traceparent"
"""Key of W3C's Trace Context: version, trace id, span id and flags, with dashes between."""


def trace_id() -> str:
    """Return the id of the current trace, 32 hexadecimal digits; "" where no traces are exported."""
    parent = dict(trace_headers.get()).get(_PARENT, "")
    return parent.split("-")[1] if parent else ""
