"""A gateway's web page on a store of a test, with a client of it."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import aiohttp

from slipway.kubernetes_api.access_reviews import AccessReviews
from slipway.kubernetes_api.objects import Objects as Api
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.web.listener import web_listening
from slipway.reports.access import ReportAccess
from slipway.reports.names import BundleKey
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import FAILED, KEY, Clock, store_of

SINK, CONSOLE = reportspb.REPORT_SOURCE_SINK, reportspb.REPORT_SOURCE_CONSOLE
MACHINE = f"/machines/{KEY.namespace}/{KEY.cluster}/{KEY.machine}"
LOGS = f"{MACHINE}/logs"
ARCHIVE = f"{MACHINE}/logs.tar.gz"


@dataclass(frozen=True)
class Answer:
    """An answer of the page."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def html(self) -> str:
        """The page as it was sent."""
        return self.body.decode()

    @property
    def text(self) -> str:
        """The page as a browser reads entities of it."""
        return unescape(self.html)


@dataclass(frozen=True)
class Web:
    """A page that is served."""

    store: ReportStore
    port: int
    client: aiohttp.ClientSession

    async def get(self, path: str, *, method: str = "GET", **headers: str) -> Answer:
        """Ask for a page; an underscore in the name of a header is a hyphen."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        async with self.client.request(method, path, headers=sent) as answer:
            return Answer(answer.status, dict(answer.headers), await answer.read())

    async def diagnosed(self) -> Answer:
        """Ask for the page of the machine, again as a browser does while its logs are being read."""
        while "being read" in (answer := await self.get(MACHINE)).html:
            assert answer.status == 200
        return answer

    async def add(self, events: bytes = FAILED, key: BundleKey = KEY, logs: bytes = b"") -> None:
        """Keep a report."""
        if events:
            await self.store.add_events(key, SINK, events)
        if logs:
            await self.store.add_logs(key, logs)


@asynccontextmanager
async def serving(
    folder: Path, api: Api | None = None, context: ssl.SSLContext | None = None, **settings: Any
) -> AsyncIterator[Web]:
    """Serve a page; with `api` it asks that management cluster about its visitors."""
    loaded = GatewaySettings.load(
        {"insecure": True, "listen_address": "127.0.0.1:0"} if "tls_cert_dir" not in settings else {},
        store=f"file://{folder}/files",
        report_store=f"file://{folder}/reports",
        web_address="127.0.0.1:0",
        drain_grace_seconds=1.0,
        review_tokens=api is not None,
        **settings,
    )
    objects, store = store_of(folder / "reports", Clock())
    reviews = None if api is None else AccessReviews(api, loaded.token_audiences)
    access = ReportAccess(reviews, readers=loaded.report_readers, consoles=())
    try:
        async with web_listening(loaded, store, access) as port:
            scheme = "http" if context is None else "https"
            connector = aiohttp.TCPConnector(ssl=context or True)
            async with aiohttp.ClientSession(f"{scheme}://127.0.0.1:{port}", connector=connector) as client:
                yield Web(store, port, client)
    finally:
        objects.close()
