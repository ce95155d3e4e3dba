"""The recorders that the settings ask for, loaded only then: they cost memory."""

from collections.abc import Sequence
from typing import Any

from slipway.rpc.settings import ServerSettings
from slipway.rpc.telemetry import Recorder


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
