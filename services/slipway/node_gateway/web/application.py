"""What the page answers: the fleet, a machine, its logs, and nothing else; by GET and HEAD only."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog
from aiohttp import hdrs, web

from slipway.contract.errors import (
    BundleInvalid,
    Overloaded,
    PermissionDenied,
    ReportNotFound,
    ReportsUnavailable,
    SlipwayError,
    Unauthenticated,
)
from slipway.node_gateway.rates import Rates, peer_of
from slipway.node_gateway.web.fleet import Fleet
from slipway.node_gateway.web.machine import source_timelines
from slipway.node_gateway.web.pages import HEADERS, render, style
from slipway.node_gateway.web.query import Filter, invalid, number_of, parameters
from slipway.node_gateway.web.readings import Readings, log_parts
from slipway.node_gateway.web.visitors import Visitors
from slipway.reports.access import ReportAccess, Right
from slipway.reports.bundle_refusal import BundleRefused
from slipway.reports.log_reader import MOST_LINES, Reading, Request
from slipway.reports.service import check_request
from slipway.reports.snapshots import Snapshots
from slipway.reports.store import ReportStore
from slipway.rpc.error_mapping import describe_exception
from slipway.v1alpha1 import report_service_pb2 as reportspb

HEALTH = "/healthz"
STYLE = "/style.css"

_MACHINE = "/machines/{namespace}/{cluster}/{machine}"
_PAGE_SECONDS = 30.0
_DIAGNOSIS_SECONDS = 8.0
_STALLED_SECONDS = 30.0
_PATIENCE_SECONDS = 5.0
_STATUSES: dict[type[SlipwayError], int] = {
    BundleInvalid: 400, Unauthenticated: 401, PermissionDenied: 403, ReportNotFound: 404, Overloaded: 503,
    ReportsUnavailable: 503,
}  # fmt: skip
_MORE = {401: {"WWW-Authenticate": 'Bearer realm="slipway"'}, 503: {"Retry-After": "5"}}
_log = structlog.get_logger("slipway.node_gateway")
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class Page:
    """Serves the page.

    Attributes:
        store: the reports.
        snapshots: all of them at a time.
        readings: of log bundles.
        access: who may see what.
        visitors: who asks.
        request_rates: requests a second of each peer.
    """

    store: ReportStore
    snapshots: Snapshots
    readings: Readings
    access: ReportAccess
    visitors: Visitors
    request_rates: Rates
    _style: bytes = field(default_factory=style)

    def application(self) -> web.Application:
        """Give the application that a runner serves."""

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        application = web.Application(middlewares=[guard], client_max_size=1)
        application.on_response_prepare.append(_add_headers)
        router = application.router
        router.add_get(HEALTH, _healthy)
        router.add_get(STYLE, self._stylesheet)
        router.add_get("/", self._fleet, name="fleet")
        router.add_get(_MACHINE, self._machine, name="machine")
        router.add_get(_MACHINE + "/logs", self._logs, name="logs")
        router.add_get(_MACHINE + "/logs.tar.gz", self._download, name="download")
        return application

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse who asks too often, show failures as pages, and log each answer: never a header, a query or a path."""
        if request.path == HEALTH:
            return await handler(request)
        started, status = time.monotonic(), 499
        try:
            response = await self._answer(request, handler)
            status = response.status
            return response
        finally:
            name = request.match_info.route.name or ""
            _log.info(
                "page answered", method=request.method, kind=name, status=status, peer=request.remote,
                milliseconds=round(1000 * (time.monotonic() - started)),
            )  # fmt: skip

    async def _answer(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if self.request_rates.is_exceeded(peer_of(request.remote), 1, patience=_PATIENCE_SECONDS):
            return _failure(503, "too many requests")
        try:
            if request.match_info.route.name == "download":
                return await handler(request)
            async with asyncio.timeout(_PAGE_SECONDS):
                return await handler(request)
        except SlipwayError as error:
            status = next((number for kind, number in _STATUSES.items() if isinstance(error, kind)), 503)
            details = [f"{each.path}: {each.description}" for each in error.violations]
            return _failure(status, error.message, details)
        except BundleRefused as error:
            return _failure(422, f"the log bundle cannot be shown: {error}; download it")
        except TimeoutError:
            return _failure(503, "it takes too long")
        except web.HTTPException as error:
            allow = {name: value for name, value in error.headers.items() if name == hdrs.ALLOW}
            return _failure(error.status, error.reason, headers=allow)
        except Exception as error:  # noqa: BLE001  # the text of an unforeseen exception may quote anything
            _log.error("page failed with an internal error", **describe_exception(error))
            return _failure(500, "internal error; see the log of the gateway")

    async def _stylesheet(self, _request: web.Request) -> web.Response:
        headers = {"Cache-Control": "public, max-age=300"}
        return web.Response(body=self._style, content_type="text/css", charset="utf-8", headers=headers)

    async def _fleet(self, request: web.Request) -> web.Response:
        chosen = Filter.of(request.query)
        await self.access.check(self.visitors.caller_of(request), Right.LIST, namespace=chosen.namespace)
        reports = await self.snapshots.get(chosen.namespace, chosen.cluster)
        # In a thread: 20,000 machines take a while, and others wait.
        text = await asyncio.to_thread(lambda: render("fleet.html", fleet=Fleet.of(reports, chosen), refresh=True))
        return _page(text)

    async def _machine(self, request: web.Request) -> web.Response:
        report, may_see_logs = await self._report(request, {"bundle"})
        reading, problem = None, ""
        if may_see_logs and report.HasField("log_bundle") and _is_open(report):
            try:
                reading = await self.readings.get(report, Request(diagnosis=True), patience=_DIAGNOSIS_SECONDS)
            except BundleRefused as error:
                problem = f"the log bundle {error}"
            else:
                problem = "" if reading else "the log bundle is being read"
        return _page(
            render(
                "machine.html",
                report=report,
                timelines=list(source_timelines(report)),
                may_see_logs=may_see_logs,
                diagnosis=reading.diagnosis if reading else None,
                problem=problem,
                refresh=True,
            )
        )

    async def _logs(self, request: web.Request) -> web.Response:
        texts = parameters(request.query, {"bundle", "file", "first"})
        wanted = Request(file=texts.get("file", ""), first=number_of(texts, "first"))
        report = await self._report_with_logs(request, {"bundle", "file", "first"})
        reading = await self.readings.get(report, wanted, patience=_PAGE_SECONDS)
        if reading is None:
            raise TimeoutError
        number = reading.lines_of(wanted.file) or 0
        if wanted.file and number < reading.first:
            raise invalid("file" if not number else "first", "there is no such text in the log bundle")
        return _page(
            render("logs.html", report=report, reading=reading, file=wanted.file, number=number,
                   parts=_parts(reading, number))
        )  # fmt: skip

    async def _download(self, request: web.Request) -> web.StreamResponse:
        async with asyncio.timeout(_PAGE_SECONDS):
            report = await self._report_with_logs(request, {"bundle"})
        response = web.StreamResponse(
            headers={
                "Content-Disposition": f'attachment; filename="{report.machine.name}-logs.tar.gz"',
                "Content-Type": "application/gzip",
                "Cache-Control": "no-store",
            }
        )
        await response.prepare(request)
        if request.method == hdrs.METH_HEAD:
            return response
        try:
            async for part in log_parts(self.store, report):
                async with asyncio.timeout(_STALLED_SECONDS):
                    await response.write(part)
        except (TimeoutError, SlipwayError) as error:
            _log.warning("download aborted", error=type(error).__name__)
            if request.transport is not None:
                request.transport.abort()
        return response

    async def _report(self, request: web.Request, names: set[str]) -> tuple[reportspb.Report, bool]:
        """Give the report that the address names, and whether the visitor may see its logs."""
        bundle_id = parameters(request.query, names).get("bundle", "")
        parts = {name: request.match_info[name] for name in ("namespace", "cluster")}
        machine = reportspb.ReportedMachine(**parts, name=request.match_info["machine"])
        check_request(reportspb.GetReportRequest(machine=machine, bundle_id=bundle_id))
        caller = self.visitors.caller_of(request)
        await self.access.check(caller, Right.GET, namespace=machine.namespace, machine=machine.name)
        try:
            await self.access.check(caller, Right.GET_LOGS, namespace=machine.namespace, machine=machine.name)
        except PermissionDenied:
            may_see_logs = False
        else:
            may_see_logs = True
        return await self.store.report(machine.namespace, machine.cluster, machine.name, bundle_id), may_see_logs

    async def _report_with_logs(self, request: web.Request, names: set[str]) -> reportspb.Report:
        report, may_see_logs = await self._report(request, names)
        if not may_see_logs:
            raise PermissionDenied("logs need the right to get machines/log")
        if not report.HasField("log_bundle"):
            raise ReportNotFound("there is no log bundle of this machine and bundle")
        return report


def _is_open(report: reportspb.Report) -> bool:
    """Whether there is something to diagnose."""
    return not report.sources or report.sources[0].state != reportspb.REPORT_STATE_COMPLETE


def _parts(reading: Reading, number: int) -> dict[str, int]:
    """Give the first lines of other parts of the file, by what a link to each says."""
    first, last = reading.first, max(number - MOST_LINES + 1, 1)
    parts = {"start": 1, "before": max(first - MOST_LINES, 1), "after": first + MOST_LINES, "end": last}
    return {word: line for word, line in parts.items() if line != first and line <= max(last, first)}


def _page(text: str, status: int = 200) -> web.Response:
    headers = {"Cache-Control": "no-store"}
    return web.Response(text=text, status=status, content_type="text/html", charset="utf-8", headers=headers)


def _failure(
    status: int, message: str, details: list[str] | None = None, headers: dict[str, str] | None = None
) -> web.Response:
    response = _page(render("failure.html", status=status, message=message, details=details or []), status)
    response.headers.update({**_MORE.get(status, {}), **(headers or {})})
    return response


async def _add_headers(_request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(HEADERS)


async def _healthy(_request: web.Request) -> web.Response:
    return web.Response(text="ok\n")
