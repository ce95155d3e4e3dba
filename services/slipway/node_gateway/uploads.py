"""What machines may write: `PUT /reports/NAMESPACE/CLUSTER/MACHINE/BUNDLE/events` and `/logs`, each by its address.

Nothing of a request counts before its signature is checked, and nothing of a body is kept before it was read as what it
must be: events as events, a log bundle as one whose secrets are removed. What any machine sends takes bounded memory
and time.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import structlog
from aiohttp import hdrs, web

from slipway.contract.errors import ReportsUnavailable
from slipway.node_gateway.rates import Rates
from slipway.reports.bundle_intake import Diagnoser, Redactor
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.capability import Capabilities, Kind, Refused, Target
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb

ROUTE = "/reports/{namespace}/{cluster}/{machine}/{bundle}/{kind}"

_PARTS = ("namespace", "cluster", "machine", "bundle", "kind")
_BURST = 30.0
_RETRY_AFTER = {"Retry-After": "10"}
_log = structlog.get_logger("slipway.node_gateway")


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the upload of one kind may take.

    Attributes:
        bytes: of the body.
        seconds: for the body to arrive, and to wait for a place.
        cost: requests of the machine's share that it counts for.
        places: uploads at a time, whose bodies are in memory.
    """

    bytes: int
    seconds: float
    cost: float
    places: asyncio.Semaphore


def default_bounds() -> dict[Kind, Bounds]:
    """Give the bounds; 26 MiB of bodies are in memory at most."""
    return {
        Kind.EVENTS: Bounds(256 * 2**10, 10.0, 1, asyncio.Semaphore(64)),
        Kind.LOGS: Bounds(5 * 2**20, 60.0, 10, asyncio.Semaphore(2)),
    }


@dataclass(frozen=True, slots=True)
class Uploads:
    """Takes reports.

    Attributes:
        store: where they are kept.
        capabilities: checks addresses.
        redactor: removes secrets from log bundles.
        rates: requests a second of each machine and kind.
        now: seconds since 1970 (UTC).
        bounds: by kind.
        diagnoser: finds the reason of a failure in log bundles.
    """

    store: ReportStore
    capabilities: Capabilities
    redactor: Redactor
    rates: Rates
    now: Callable[[], float]
    bounds: dict[Kind, Bounds] = field(default_factory=default_bounds)
    diagnoser: Diagnoser = field(default_factory=Diagnoser)
    _arriving: set[str] = field(default_factory=set)

    async def put(self, request: web.Request) -> web.Response:
        """Take what one address is for; 204 once it is kept."""
        try:
            target = self.capabilities.check(
                [request.match_info[part] for part in _PARTS], request.query, now=self.now()
            )
        except Refused as error:
            _log.warning("report refused", reason=str(error), peer=request.remote)
            raise web.HTTPForbidden(text="the address is not valid, or no longer\n") from None
        try:
            await self._take(request, target)
        except web.HTTPException as error:
            key = target.key
            _log.warning(
                "report refused", reason=error.text, kind=target.kind, namespace=key.namespace, machine=key.machine
            )  # fmt: skip
            raise
        return web.Response(status=204)

    async def _take(self, request: web.Request, target: Target) -> None:
        bounds = self.bounds[target.kind]
        if (request.content_length or 0) > bounds.bytes:
            raise _too_large(bounds)
        if target.path in self._arriving or self.rates.is_exceeded(target.path, bounds.cost, patience=_BURST):
            raise web.HTTPTooManyRequests(headers=_RETRY_AFTER, text="too many reports of this machine\n")
        self._arriving.add(target.path)
        try:
            async with _place(bounds):
                await self._keep(target, await _body(request, bounds))
        except ReportsUnavailable as error:
            _log.warning("store failed", error=error.message)
            raise web.HTTPServiceUnavailable(headers=_RETRY_AFTER, text="the store does not answer\n") from None
        finally:
            self._arriving.discard(target.path)

    async def _keep(self, target: Target, data: bytes) -> None:
        if target.kind is Kind.EVENTS:
            events, _ = await self.store.add_events(target.key, reportspb.REPORT_SOURCE_SINK, data)
            if not events:
                raise web.HTTPUnprocessableEntity(text="there is no event of this bundle\n")
            return
        try:
            redacted = await self.redactor.redact(data)
        except BundleRefused as error:
            raise web.HTTPUnprocessableEntity(text=f"the log bundle {error}\n") from None
        await self.store.add_logs(target.key, redacted, reason=await self.diagnoser.reason(redacted))


@asynccontextmanager
async def _place(bounds: Bounds) -> AsyncIterator[None]:
    """Take a place among the uploads of a kind; 503 if no place is free in time."""
    try:
        async with asyncio.timeout(bounds.seconds):
            await bounds.places.acquire()
    except TimeoutError:
        raise web.HTTPServiceUnavailable(headers=_RETRY_AFTER, text="too many reports\n") from None
    try:
        yield
    finally:
        bounds.places.release()


async def _body(request: web.Request, bounds: Bounds) -> bytes:
    """Read a body, which may have come without its length."""
    # Who waits for a word before it sends, as curl does with a large body, gets it now and not before the checks.
    if request.headers.get(hdrs.EXPECT, "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.writer.output_size = 0
    parts, size = [], 0
    try:
        async with asyncio.timeout(bounds.seconds):
            async for chunk in request.content.iter_any():
                size += len(chunk)
                if size > bounds.bytes:
                    raise _too_large(bounds)
                parts.append(chunk)
    except TimeoutError:
        raise web.HTTPRequestTimeout(text="the report did not arrive in time\n") from None
    return b"".join(parts)


def _too_large(bounds: Bounds) -> web.HTTPException:
    return web.HTTPRequestEntityTooLarge(
        max_size=bounds.bytes, actual_size=bounds.bytes + 1, text=f"it has more than {bounds.bytes} bytes\n"
    )


async def expect_nothing(request: web.Request) -> None:
    """Send no word yet to who waits for one: see Uploads."""
    del request
