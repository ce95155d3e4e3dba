"""An HTTP server of the gateway: bounded connections, TLS that follows its files, and an end that waits for answers."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from slipway.node_gateway.settings import GatewaySettings
from slipway.rpc.connections import Bounded, Bounds

_HANDSHAKE_SECONDS = 10.0
_LINGERING_SECONDS = 1.0
IDLE_SECONDS = 30.0
"""After so long a connection ends on which nothing was asked, or the head of a request has not come to its end."""


@asynccontextmanager
async def http_server(
    application: web.Application,
    address: str,
    context: ssl.SSLContext | None,
    settings: GatewaySettings,
    *,
    idle_seconds: float = IDLE_SECONDS,
) -> AsyncIterator[int]:
    """Serve an application as long as the block lasts, and until answers in flight have ended; give the port.

    Args:
        application: what is served.
        address: HOST:PORT.
        context: TLS; None without.
        settings: bounds of connections, and the grace time.
        idle_seconds: between two requests, and until the head of one is whole.

    Raises:
        OSError: the address cannot be listened at.
    """
    loop = asyncio.get_running_loop()
    runner = web.AppRunner(
        application,
        access_log=None,
        handle_signals=False,
        shutdown_timeout=settings.drain_grace_seconds,
        # So long the rest of a body is read that was refused, or its sender would not see why.
        lingering_time=_LINGERING_SECONDS,
        keepalive_timeout=idle_seconds,
    )
    await runner.setup()
    if runner.server is None:
        raise RuntimeError("the runner was set up and has no server")
    bounds = Bounds(settings.connections, settings.peer_connections, settings.connection_seconds)
    connections = Bounded(runner.server, bounds)
    host, _, port = address.rpartition(":")
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
        await asyncio.sleep(0)
