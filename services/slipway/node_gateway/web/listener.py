"""Listens for visitors of the page."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from slipway.node_gateway.http_server import http_server
from slipway.node_gateway.rates import Rates
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.web.application import Page
from slipway.node_gateway.web.readings import Readings
from slipway.node_gateway.web.visitors import Proxy, Visitors
from slipway.reports.access import ReportAccess
from slipway.reports.log_reader import LogReader
from slipway.reports.service import WATCH_SECONDS
from slipway.reports.snapshots import Snapshots
from slipway.reports.store import ReportStore
from slipway.rpc.renewed_context import RenewedContext

_log = structlog.get_logger("slipway.node_gateway")


@asynccontextmanager
async def web_listening(settings: GatewaySettings, store: ReportStore, access: ReportAccess) -> AsyncIterator[int]:
    """Serve the page as long as the block lasts; give the port, 0 where there is no page.

    Raises:
        OSError: the address cannot be listened at, or there is no certificate.
    """
    if settings.web_address is None:
        yield 0
        return
    readings = Readings(store, LogReader())
    page = Page(
        store,
        Snapshots(store, seconds=WATCH_SECONDS / 2),
        readings,
        access,
        _visitors(settings),
        Rates(settings.peer_requests_per_second, asyncio.get_running_loop().time),
    )
    try:
        async with http_server(page.application(), settings.web_address, _context(settings), settings) as port:
            _log.info("web page served", port=port, tls=settings.web_tls_cert_dir is not None)
            yield port
    finally:
        await readings.close()


def _visitors(settings: GatewaySettings) -> Visitors:
    proxy = None
    if settings.web_user_header is not None:
        proxy = Proxy(settings.web_user_header, settings.web_groups_header or "", settings.web_proxies)
    return Visitors(proxy, is_open=settings.web_tls_cert_dir is None and not settings.review_tokens)


def _context(settings: GatewaySettings) -> ssl.SSLContext | None:
    directory = settings.web_tls_cert_dir
    if directory is None:
        return None
    # No client is asked for a certificate that no list could name.
    return RenewedContext(directory, verifies_clients=bool(settings.web_proxies or settings.report_readers)).context()
