"""The gateway's process: it listens, follows its certificate, and drains on SIGTERM. Reports have a second server."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import structlog

from slipway.node_gateway.application import Gateway
from slipway.node_gateway.downloads import Downloads, DownloadsCollector
from slipway.node_gateway.http_server import http_server
from slipway.node_gateway.notes import Notes
from slipway.node_gateway.rates import Rates
from slipway.node_gateway.reports import Reports, keeping
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import Store, warn_of_leftovers
from slipway.node_gateway.uploads import Uploads
from slipway.reports.objects import Objects
from slipway.rpc.logs import configure_logging
from slipway.rpc.renewed_context import RenewedContext

NAME = "slipway-node-gateway"
LOG_KEYS = (
    "failure",
    "method",
    "kind",
    "status",
    "peer",
    "port",
    "tls",
    "namespace",
    "machine",
    "events",
    "foreign_events",
    "count",
)
_log = structlog.get_logger("slipway.node_gateway")


async def serve_gateway(settings: GatewaySettings, store: Store, reports: Reports | None = None) -> None:
    """Serve until SIGTERM or SIGINT; downloads in flight have the grace time.

    Raises:
        OSError: an address cannot be listened at, or there is no certificate.
        ServerStartError, TlsFilesError: the same of the server of reports.
    """
    configure_logging(log_format=settings.log_format, level=settings.log_level, extra_keys=LOG_KEYS)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    uploads = None if reports is None else reports.uploads()
    downloads = Downloads()
    collectors = [DownloadsCollector(downloads)]
    # ReportService has metrics of its own calls, and serves these beside them.
    alone = reports is None or reports.management is None
    with _metrics(settings.metrics_address if alone else None, collectors):
        async with (
            keeping(reports, stopping, collectors=collectors),
            listening(settings, store, uploads, downloads) as port,
        ):
            _log.info("serving", port=port, tls=settings.tls_cert_dir is not None)
            looking = asyncio.create_task(warn_of_leftovers(store))
            await stopping.wait()
            looking.cancel()
            _log.info("draining", seconds=settings.drain_grace_seconds)
    _log.info("stopped")


@asynccontextmanager
async def listening(
    settings: GatewaySettings, store: Store, uploads: Uploads | None = None, downloads: Downloads | None = None
) -> AsyncIterator[int]:
    """Serve as long as the block lasts, and until downloads in flight have ended; give the port.

    Raises:
        OSError: as serve_gateway().
    """
    loop = asyncio.get_running_loop()
    notes = None if settings.payload_notes is None else Notes(Objects.of(settings.payload_notes, "--payload-notes"))
    gateway = Gateway(
        store,
        byte_rates=Rates(settings.peer_bytes_per_second, loop.time),
        request_rates=Rates(settings.peer_requests_per_second, loop.time),
        max_bytes=settings.max_blob_bytes,
        uploads=uploads,
        notes=notes,
        downloads=downloads or Downloads(),
    )
    context = None if settings.tls_cert_dir is None else RenewedContext(settings.tls_cert_dir).context()
    try:
        async with http_server(gateway.application(), settings.listen_address, context, settings) as port:
            yield port
    finally:
        store.close()
        if notes is not None:
            await notes.close()


@contextmanager
def _metrics(address: str | None, collectors: Sequence[Any]) -> Iterator[None]:
    """Serve metrics as long as the block lasts, where there is an address."""
    if address is None:
        yield
        return
    from slipway.rpc.prometheus import PrometheusRecorder  # noqa: PLC0415  # prometheus_client: only a process that serves metrics loads it

    recorder = PrometheusRecorder.serving(address, collectors)
    try:
        yield
    finally:
        recorder.close()
