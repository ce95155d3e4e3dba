"""The stage that measures calls, a span and a duration for each, and the recorders that the settings ask for.

The interceptor of opentelemetry-contrib records exception texts and gets codes wrong for aborted calls, so this is our
own. What is recorded is a closed list: service, method, code, reason, duration. Recorders are loaded only when they are
asked for: they cost memory.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from slipway.rpc import ServicerContext
from slipway.rpc.call import Call, Proceed
from slipway.rpc.settings import ServerSettings


class Recorder(Protocol):
    """Somewhere that calls are recorded."""

    def started(self, call: Call, metadata: Mapping[str, str]) -> object:
        """Note the start; what it gives comes back at the end. ``metadata`` is the caller's, text only."""

    def finished(self, call: Call, token: object, *, seconds: float) -> None:
        """Note the end with its outcome."""

    def close(self) -> None:
        """Send what is left and stop."""


class Telemetry:
    """Runs the recorders around a call; health and reflection are not recorded."""

    def __init__(self, recorders: Sequence[Recorder]) -> None:
        self._recorders = tuple(recorders)

    async def __call__(self, call: Call, context: ServicerContext, proceed: Proceed) -> object:
        """Record one call."""
        if not self._recorders or call.is_infrastructure:
            return await proceed()
        metadata = {k: v for k, v in context.invocation_metadata() or () if isinstance(v, str)}
        tokens = [recorder.started(call, metadata) for recorder in self._recorders]
        start = time.perf_counter()
        try:
            return await proceed()
        finally:
            seconds = time.perf_counter() - start
            for recorder, token in zip(self._recorders, tokens, strict=True):
                recorder.finished(call, token, seconds=seconds)


def configured_recorders(settings: ServerSettings, *, service: str, collectors: Sequence[Any] = ()) -> list[Recorder]:
    """Give the recorders that the settings ask for; none by default, and then nothing of theirs is imported.

    ``collectors`` are a service's own metrics, in the shape of prometheus_client's.

    Raises:
        ImportError: traces are asked for and the extra ``slipway-sdk[otlp]`` is not installed.
    """
    recorders: list[Recorder] = []
    if settings.metrics_address is not None:
        from slipway.rpc.prometheus import PrometheusRecorder  # noqa: PLC0415  # only with a metrics address

        recorders.append(PrometheusRecorder.serving(settings.metrics_address, collectors))
    if settings.otlp_endpoint is not None:
        from slipway.rpc.otlp import OtlpRecorder  # noqa: PLC0415  # an optional dependency

        recorders.append(OtlpRecorder.exporting(settings.otlp_endpoint, service=service))
    return recorders
