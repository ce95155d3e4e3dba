"""What the gateway's process has for reports: uploads for machines, gRPC and a web page for others, and retention."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from slipway.bootstrapper.callers import EVERYBODY
from slipway.kubernetes_api.access_reviews import AccessReviews
from slipway.node_gateway.inbox import Inbox
from slipway.node_gateway.rates import Rates
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.uploads import Uploads
from slipway.node_gateway.web.listener import web_listening
from slipway.reports.access import ReportAccess
from slipway.reports.bundle_intake import Redactor
from slipway.reports.capability import Capabilities
from slipway.reports.objects import Objects
from slipway.reports.outcomes import Outcomes, OutcomesCollector
from slipway.reports.retention import Limits, Retention
from slipway.reports.service import ReportServicer
from slipway.reports.store import ReportStore
from slipway.rpc.lifecycle import OnStart, serve
from slipway.rpc.server import Service
from slipway.rpc.settings import ServerSettings
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import add_ReportServiceServicer_to_server

NAME = "slipway-node-gateway"
_SWEEP_SECONDS = 3600.0


def milliseconds() -> int:
    """Give the time in milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Reports:
    """The reports of a gateway.

    Attributes:
        settings: of the gateway.
        management: of the gRPC server, where there is one.
        objects: the object store.
        capabilities: the addresses of machines, where they write.
        inbox: the bucket into which machines write, where there is one.
        outcomes: counts how bootstraps end.
    """

    settings: GatewaySettings
    management: ServerSettings | None
    objects: Objects
    capabilities: Capabilities | None
    inbox: Objects | None = None
    outcomes: Outcomes = field(default_factory=Outcomes)

    @classmethod
    def of(cls, settings: GatewaySettings) -> "Reports | None":
        """Open the store of reports; None without one.

        Raises:
            ValueError: the store or the file of keys cannot be used.
            click.UsageError: the settings of the gRPC server are not valid.
        """
        if settings.report_store is None:
            return None
        management = settings.management()
        key_file = settings.report_key_file
        capabilities = None if key_file is None else Capabilities.of_file(key_file)
        bucket = settings.report_inbox
        inbox = None if bucket is None else Objects.of(bucket, "--report-inbox")
        return cls(settings, management, Objects.of(settings.report_store), capabilities, inbox)

    @property
    def store(self) -> ReportStore:
        """The reports."""
        return ReportStore(self.objects, milliseconds, self.outcomes)

    def uploads(self) -> Uploads | None:
        """Give what takes the reports of machines; None where they write none."""
        if self.capabilities is None:
            return None
        rates = Rates(self.settings.machine_reports_per_second, asyncio.get_running_loop().time)
        return Uploads(self.store, self.capabilities, Redactor(), rates, time.time)


@asynccontextmanager
async def keeping(
    reports: Reports | None, stopping: asyncio.Event, *, on_start: OnStart | None = None, collectors: Sequence[Any] = ()
) -> AsyncIterator[None]:
    """Keep reports as long as the block lasts: serve and show them, look for new ones, delete old ones.

    A gRPC server that ends sets `stopping`. Its metrics have those of `collectors` beside them.

    Raises:
        ServerStartError, TlsFilesError, OSError: a server could not start.
    """
    if reports is None:
        yield
        return
    limits = Limits(reports.settings.report_days, reports.settings.report_bytes)
    working = [asyncio.create_task(Retention(reports.objects, limits, milliseconds).run(_SWEEP_SECONDS))]
    if reports.inbox is not None:
        inbox = Inbox(reports.inbox, reports.store, Redactor(), limits.days, time.time)
        working.append(asyncio.create_task(inbox.run(reports.settings.report_inbox_seconds)))
    end = asyncio.Event()
    try:
        async with _access(reports.settings) as access, web_listening(reports.settings, reports.store, access):
            serving = asyncio.create_task(_serve(reports, access, end, on_start, collectors))
            serving.add_done_callback(lambda _: stopping.set() if reports.management is not None else None)
            try:
                yield
            finally:
                end.set()
                await serving
    finally:
        for task in working:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        reports.objects.close()
        if reports.inbox is not None:
            reports.inbox.close()


async def _serve(
    reports: Reports, access: ReportAccess, end: asyncio.Event, on_start: OnStart | None, collectors: Sequence[Any]
) -> None:
    settings = reports.management
    if settings is None:
        return
    service = Service.of(
        reportspb.DESCRIPTOR.services_by_name["ReportService"],
        add_ReportServiceServicer_to_server,
        ReportServicer(reports.store, access),
    )
    await serve(
        settings, [service], name=NAME, policy=EVERYBODY, on_start=[on_start] if on_start else [], stop=end,
        collectors=[OutcomesCollector(reports.outcomes), *collectors],
    )  # fmt: skip


@asynccontextmanager
async def _access(settings: GatewaySettings) -> AsyncIterator[ReportAccess]:
    """Give who may do what: for ReportService and for the web page alike."""
    async with _reviews(settings) as reviews:
        yield ReportAccess(reviews, readers=settings.report_readers, consoles=settings.console_callers)


@asynccontextmanager
async def _reviews(settings: GatewaySettings) -> AsyncIterator[AccessReviews | None]:
    """Give what asks the management cluster, where it is asked; nothing of Kubernetes is loaded otherwise."""
    if not settings.review_tokens:
        yield None
        return
    from slipway.kubernetes_api.api import Api  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.connection import Connection  # noqa: PLC0415  # of the Kubernetes client

    connection = await Connection.of_process(settings.kubeconfig)
    try:
        yield AccessReviews(Api(connection), settings.token_audiences)
    finally:
        await connection.close()
