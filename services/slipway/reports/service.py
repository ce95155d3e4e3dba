"""ReportService: the store of reports behind gRPC. It adds who may call, and nothing but the wire."""

import asyncio
import base64
import binascii
from collections.abc import AsyncIterator
from itertools import chain

import structlog
from google.protobuf.message import Message

from slipway.contract import validation
from slipway.contract.errors import BundleInvalid, Violation
from slipway.contract.unknown import unknown_fields
from slipway.diagnosis.log_text import decoded
from slipway.reports.access import Caller, ReportAccess, Right
from slipway.reports.names import BundleKey, NameInvalid
from slipway.reports.snapshots import MOST_REPORTS, Snapshots, Watch
from slipway.reports.store import ReportStore
from slipway.rpc import ServicerContext
from slipway.rpc.identity import identity_of
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceServicer

WATCH_SECONDS = 3.0
"""Between two readings of the store for a watch."""

_GZIP = b"\x1f\x8b"
_PART = 256 * 2**10
_log = structlog.get_logger("slipway.reports")


class ReportServicer(ReportServiceServicer):
    """Answers the five calls."""

    def __init__(self, store: ReportStore, access: ReportAccess, *, watch_seconds: float = WATCH_SECONDS) -> None:
        """Serve a store to those who may."""
        self._store = store
        self._access = access
        self._seconds = watch_seconds
        self._snapshots = Snapshots(store, seconds=watch_seconds / 2)

    async def IngestConsole(  # noqa: N802  # the name is the contract's
        self, request: reportspb.IngestConsoleRequest, context: ServicerContext
    ) -> reportspb.IngestConsoleResponse:
        """See report_service.proto."""
        check_request(request)
        await self._check_machine(request.machine, context, Right.INGEST)
        if request.console.startswith(_GZIP) or decoded(request.console) is None:
            raise _invalid(Violation("console", "must be text, as the machine wrote it; decompress it first"))
        machine = request.machine
        key = BundleKey(machine.namespace, machine.cluster, machine.name, request.bundle_id)
        events, foreign = await self._store.add_events(key, reportspb.REPORT_SOURCE_CONSOLE, request.console)
        _log.info("console read", namespace=key.namespace, machine=key.machine, events=events, foreign_events=foreign)
        return reportspb.IngestConsoleResponse(events=events, foreign_events=foreign)

    async def GetReport(  # noqa: N802  # the name is the contract's
        self, request: reportspb.GetReportRequest, context: ServicerContext
    ) -> reportspb.GetReportResponse:
        """See report_service.proto."""
        check_request(request)
        await self._check_machine(request.machine, context, Right.GET)
        machine = request.machine
        report = await self._store.report(machine.namespace, machine.cluster, machine.name, request.bundle_id)
        return reportspb.GetReportResponse(report=report)

    async def ListReports(  # noqa: N802  # the name is the contract's
        self, request: reportspb.ListReportsRequest, context: ServicerContext
    ) -> reportspb.ListReportsResponse:
        """See report_service.proto."""
        check_request(request)
        after = _place(request)
        await self._check(request.namespace, context, Right.LIST)
        size = request.page_size or MOST_REPORTS
        reports = await self._store.page(
            request.namespace, cluster=request.cluster, machine=request.machine, after=after, most=size + 1
        )
        response = reportspb.ListReportsResponse()
        if len(reports) > size:
            last = reports[size - 1].machine
            place = f"{last.cluster}/{last.name}/"
            response.next_page_token = base64.urlsafe_b64encode(place.encode()).decode()
        response.reports.extend(
            report for report in reports[:size] if request.state in (reportspb.REPORT_STATE_UNSPECIFIED, _state(report))
        )
        return response

    async def WatchReports(  # noqa: N802  # the name is the contract's
        self, request: reportspb.WatchReportsRequest, context: ServicerContext
    ) -> AsyncIterator[reportspb.WatchReportsResponse]:
        """See report_service.proto. Changes that come while one is sent are sent together."""
        check_request(request)
        await self._check(request.namespace, context, Right.WATCH)
        watch = Watch(request.namespace)
        while True:
            for message in watch.changes(await self._snapshots.get(request.namespace, request.cluster)):
                yield message
            await asyncio.sleep(self._seconds)

    async def GetLogBundle(  # noqa: N802  # the name is the contract's
        self, request: reportspb.GetLogBundleRequest, context: ServicerContext
    ) -> AsyncIterator[reportspb.GetLogBundleResponse]:
        """See report_service.proto."""
        check_request(request)
        await self._check_machine(request.machine, context, Right.GET_LOGS)
        machine = request.machine
        parts = await self._store.logs(machine.namespace, machine.cluster, machine.name, request.bundle_id)
        while part := await self._store.next_part(parts):
            for start in range(0, len(part), _PART):
                yield reportspb.GetLogBundleResponse(data=part[start : start + _PART])

    async def _check_machine(self, machine: reportspb.ReportedMachine, context: ServicerContext, right: Right) -> None:
        await self._check(machine.namespace, context, right, machine=machine.name)

    async def _check(self, namespace: str, context: ServicerContext, right: Right, *, machine: str = "") -> None:
        metadata = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        caller = Caller(identity_of(context), metadata.get("authorization", ""))
        await self._access.check(caller, right, namespace=namespace, machine=machine)


def check_request(request: Message) -> None:
    """Refuse a request that breaks a rule, or has a field that this version does not know.

    Raises:
        BundleInvalid: it does.
    """
    wrong = validation.bounded(chain(unknown_fields(request, path="request"), validation.violations(request)))
    if wrong:
        raise _invalid(*wrong)


def _invalid(*violations: Violation) -> BundleInvalid:
    return BundleInvalid("the request breaks a rule", violations=list(violations))


def _place(request: reportspb.ListReportsRequest) -> str:
    """Give the place behind which a page begins: "" for the first one."""
    if not request.page_token:
        return ""
    try:
        place = base64.b64decode(request.page_token, altchars=b"-_", validate=True).decode()
        cluster, machine, rest = place.split("/")
        BundleKey(request.namespace, cluster, machine, "x")
    except (binascii.Error, ValueError, NameInvalid):
        rest = "invalid"
    if rest:
        raise _invalid(Violation("page_token", "must be the next_page_token of an answer"))
    return place


def _state(report: reportspb.Report) -> reportspb.ReportState.ValueType:
    return report.sources[0].state if report.sources else reportspb.REPORT_STATE_UNSPECIFIED
