"""The gateway's process: it listens, follows its certificate, and drains on SIGTERM. Reports have a second server."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from aiohttp import web

from slipway.node_gateway.application import Gateway
from slipway.node_gateway.rates import Rates
from slipway.node_gateway.reports import Reports, keeping
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import Store
from slipway.node_gateway.uploads import Uploads
from slipway.rpc.connections import Bounded, Bounds
from slipway.rpc.logs import configure_logging
from slipway.rpc.renewed_context import RenewedContext

NAME = "slipway-node-gateway"
_HANDSHAKE_SECONDS = 10.0
_LINGERING_SECONDS = 1.0
_LOG_KEYS = ("method", "kind", "status", "peer", "port", "tls", "namespace", "machine", "events", "foreign_events")
_log = structlog.get_logger("slipway.node_gateway")


async def serve_gateway(settings: GatewaySettings, store: Store, reports: Reports | None = None) -> None:
    """Serve until SIGTERM or SIGINT; downloads in flight have the grace time.

    Raises:
        OSError: the address cannot be listened at, or there is no certificate.
        ServerStartError, TlsFilesError: the same of the server of reports.
    """
    configure_logging(log_format=settings.log_format, level=settings.log_level, extra_keys=_LOG_KEYS)
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    uploads = None if reports is None else reports.uploads()
    async with keeping(reports, stopping), listening(settings, store, uploads) as port:
        _log.info("serving", port=port, tls=settings.tls_cert_dir is not None)
        await stopping.wait()
        _log.info("draining", seconds=settings.drain_grace_seconds)
    _log.info("stopped")


@asynccontextmanager
async def listening(settings: GatewaySettings, store: Store, uploads: Uploads | None = None) -> AsyncIterator[int]:
    """Serve as long as the block lasts, and until downloads in flight have ended; give the port.

    Raises:
        OSError: as serve_gateway().
    """
    loop = asyncio.get_running_loop()
    gateway = Gateway(
        store,
        byte_rates=Rates(settings.peer_bytes_per_second, loop.time),
        request_rates=Rates(settings.peer_requests_per_second, loop.time),
        max_bytes=settings.max_blob_bytes,
        uploads=uploads,
    )
    runner = web.AppRunner(
        gateway.application(),
        access_log=None,
        handle_signals=False,
        shutdown_timeout=settings.drain_grace_seconds,
        # So long the rest of a body is read that was refused, or its sender would not see why.
        lingering_time=_LINGERING_SECONDS,
    )
    await runner.setup()
    if runner.server is None:
        raise RuntimeError("the runner was set up and has no server")
    bounds = Bounds(settings.connections, settings.peer_connections, settings.connection_seconds)
    connections = Bounded(runner.server, bounds)
    host, _, port = settings.listen_address.rpartition(":")
    context = None if settings.tls_cert_dir is None else RenewedContext(settings.tls_cert_dir).context()
    server = None
    try:
        server = await loop.create_server(
            # None is every address of either family, and "::" to a socket that asyncio makes is IPv6 alone.
            connections, None if host in ("", "[::]") else host.strip("[]"), int(port), ssl=context,
            ssl_handshake_timeout=_HANDSHAKE_SECONDS if context else None,
            ssl_shutdown_timeout=1.0 if context else None,
        )  # fmt: skip
        yield int(server.sockets[0].getsockname()[1])
    finally:
        if server is not None:
            server.close()
        await runner.cleanup()
        connections.abort()
        store.close()
        await asyncio.sleep(0)
