"""A gateway's server of reports in a folder of a test, with callers of each kind."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.contract.roles import REPORTS
from slipway.node_gateway.reports import Reports, keeping
from slipway.node_gateway.settings import GatewaySettings
from slipway.rpc.channel import ChannelPool
from slipway.rpc.server import RpcServer
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceStub

if TYPE_CHECKING:
    from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceAsyncStub


@dataclass(frozen=True)
class Served:
    """A server of reports.

    Attributes:
        reports: of its gateway.
        address: of its gRPC server.
    """

    reports: Reports
    address: str

    @asynccontextmanager
    async def stub(self, certificates: Path | None = None) -> AsyncIterator["ReportServiceAsyncStub"]:
        """Give a client, with the certificates of a folder."""
        tls = None if certificates is None else CertificateFiles(certificates)
        pool = ChannelPool(tls=tls, trust_domain="slipway")
        try:
            yield ReportServiceStub(pool.get(self.address, role=REPORTS))
        finally:
            await pool.close()


@asynccontextmanager
async def serving(
    folder: Path, certificates: Path | None = None, *, port: int = 0, **settings: Any
) -> AsyncIterator[Served]:
    """Serve reports of a folder, by TLS where there are certificates."""
    transport: dict[str, Any] = {"insecure": True, "listen_address": "127.0.0.1:0"}
    if certificates is not None:
        transport = {"tls_cert_dir": certificates, "management_tls_cert_dir": certificates}
    loaded = GatewaySettings.load(
        transport,
        store=f"file://{folder}/files",
        report_store=f"file://{folder}/reports",
        management_address=f"127.0.0.1:{port}",
        drain_grace_seconds=1.0,
        drain_propagation_seconds=0.0,
        **settings,
    )
    reports = Reports.of(loaded)
    if reports is None:
        raise RuntimeError("a store was given")
    started: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def note(server: RpcServer) -> None:
        started.set_result(f"127.0.0.1:{server.port}")

    stopping = asyncio.Event()
    async with keeping(reports, stopping, on_start=note):
        async with asyncio.timeout(20):
            address = await started
        yield Served(reports, address)
