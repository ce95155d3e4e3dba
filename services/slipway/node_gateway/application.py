"""What the gateway answers: `/sha256/HEX` and `/payload/NAME`, each by GET and HEAD, reports by PUT, and nothing else.

The gateway knows no secret. The name of a payload is the SHA-256 of its ticket, so that who shows a ticket shows that
the payload is its own; the ticket is never stored, nor logged.
"""

import asyncio
import hashlib
import hmac
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog
from aiohttp import hdrs, web

from slipway.node_gateway.downloads import Downloads, Transfer
from slipway.node_gateway.notes import Notes
from slipway.node_gateway.ranges import ByteRange, Unsatisfiable, parse_range
from slipway.node_gateway.rates import Rates, peer_of
from slipway.node_gateway.store import Store, StoreUnavailable
from slipway.node_gateway.uploads import ROUTE, Uploads, expect_nothing

HEALTH = "/healthz"
_PATIENCE_SECONDS = 5.0
_STALLED_SECONDS = 30.0
_TRANSFER = web.RequestKey("slipway-transfer", Transfer)
_NAMES = {"digest", "name", "bundle"}
_RETRY_AFTER = {"Retry-After": "5"}
_IMMUTABLE = "public, max-age=31536000, immutable"
_log = structlog.get_logger("slipway.node_gateway")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Gateway:
    """Serves objects of a store.

    Attributes:
        store: the objects.
        byte_rates: bytes a second of each peer.
        request_rates: requests a second of each peer.
        max_bytes: larger objects are not served.
        uploads: takes reports; without it none are taken.
        notes: notes which payloads were fetched; without it none are noted.
        downloads: counts what is downloaded.
    """

    store: Store
    byte_rates: Rates
    request_rates: Rates
    max_bytes: int
    uploads: Uploads | None = None
    notes: Notes | None = None
    downloads: Downloads = field(default_factory=Downloads)

    def application(self) -> web.Application:
        """Give the application that a runner serves."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        application = web.Application(middlewares=[guard], client_max_size=1)
        application.router.add_get("/sha256/{digest:[0-9a-f]{64}}", self._blob)
        application.router.add_get("/payload/{name:[0-9a-f]{64}}", self._payload)
        application.router.add_get(HEALTH, _healthy)
        if self.uploads is not None:
            application.router.add_put(ROUTE, self.uploads.put, expect_handler=expect_nothing)
        return application

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who asks too often, and log each answer: never a header, a query or a path that is not ours."""
        if request.path == HEALTH:
            return await handler(request)
        started, status, sent = time.monotonic(), 499, 0
        transfer = request[_TRANSFER] = Transfer()
        try:
            if self.request_rates.is_exceeded(peer_of(request.remote), 1, patience=_PATIENCE_SECONDS):
                transfer.is_busy = True
                raise web.HTTPServiceUnavailable(headers=_RETRY_AFTER, text="too many requests\n")
            response = await handler(request)
        except web.HTTPException as error:
            status = error.status
            raise
        except StoreUnavailable as error:
            status = web.HTTPServiceUnavailable.status_code
            _log.warning("store failed", error=str(error))
            raise web.HTTPServiceUnavailable(headers=_RETRY_AFTER, text="the store does not answer\n") from None
        else:
            status, sent = response.status, response.content_length or 0
            return response
        finally:
            kind = request.path.split("/")[1] if request.match_info.keys() & _NAMES else ""
            seconds = time.monotonic() - started
            if request.method == hdrs.METH_GET:
                self.downloads.count(kind, status, transfer, seconds=seconds)
            _log.info(
                "request answered", method=request.method, kind=kind, digest=request.match_info.get("digest", ""),
                status=status, bytes=sent, peer=request.remote, milliseconds=round(1000 * seconds),
            )  # fmt: skip

    async def _blob(self, request: web.Request) -> web.StreamResponse:
        digest = request.match_info["digest"]
        headers = {"ETag": f'"{digest}"', "Cache-Control": _IMMUTABLE}
        if f'"{digest}"' in request.headers.get(hdrs.IF_NONE_MATCH, ""):
            return web.Response(status=304, headers=headers)
        if_range = request.headers.get(hdrs.IF_RANGE)
        requested_range = request.headers.get(hdrs.RANGE) if if_range in (None, f'"{digest}"') else None
        return await self._object(request, f"sha256/{digest}", headers, requested_range)

    async def _payload(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["name"]
        scheme, _, ticket = request.headers.get(hdrs.AUTHORIZATION, "").partition(" ")
        shown = hashlib.sha256(ticket.strip().encode("utf-8", "surrogateescape")).hexdigest()
        if scheme.lower() != "bearer" or not hmac.compare_digest(shown, name):
            # As for a payload that is not there: who has no ticket learns nothing.
            raise web.HTTPNotFound
        return await self._object(request, f"payload/{name}", {"Cache-Control": "no-store"}, None, payload=name)

    async def _object(
        self,
        request: web.Request,
        key: str,
        headers: dict[str, str],
        requested_range: str | None,
        *,
        payload: str = "",
    ) -> web.StreamResponse:
        size = await self.store.size(key)
        if size is None or size > self.max_bytes:
            raise web.HTTPNotFound
        try:
            part = parse_range(requested_range, size)
        except Unsatisfiable:
            raise web.HTTPRequestRangeNotSatisfiable(headers={"Content-Range": f"bytes */{size}"}) from None
        response = web.StreamResponse(status=200 if part is None else 206, headers=headers)
        whole = part or ByteRange(0, size)
        response.content_type = "application/octet-stream"
        response.content_length = whole.end - whole.start
        response.headers.update({"X-Content-Type-Options": "nosniff"})
        if key.startswith("sha256/"):
            response.headers["Accept-Ranges"] = "bytes"
        if part is not None:
            response.headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{size}"
        await response.prepare(request)
        if request.method != hdrs.METH_HEAD and whole.end > whole.start:
            is_sent = await self._send(request, response, key, whole)
            if is_sent and payload and self.notes is not None:
                self.notes.add(payload, request.remote or "")
        return response

    async def _send(self, request: web.Request, response: web.StreamResponse, key: str, part: ByteRange) -> bool:
        """Send a part, and return whether it is sent.

        A peer that takes nothing for too long, or a store that fails, ends the connection.
        """
        peer, transfer = peer_of(request.remote), request[_TRANSFER]
        transfer.is_aborted = True
        try:
            async for chunk in self.store.read(key, part):
                await self.byte_rates.take(peer, len(chunk))
                async with asyncio.timeout(_STALLED_SECONDS):
                    await response.write(chunk)
                transfer.bytes += len(chunk)
        except (TimeoutError, StoreUnavailable) as error:
            _log.warning("download aborted", error=type(error).__name__)
            if request.transport is not None:
                request.transport.abort()
            return False
        transfer.is_aborted = False
        return True


async def _healthy(_request: web.Request) -> web.Response:
    return web.Response(text="ok\n")
