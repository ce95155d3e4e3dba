"""The current span, as calls carry it to other servers; apart, so that who reads it loads no exporter."""

from contextvars import ContextVar

trace_headers: ContextVar[tuple[tuple[str, str], ...]] = ContextVar("trace_headers", default=())
"""Metadata that carries the current span to the servers that this call calls."""
