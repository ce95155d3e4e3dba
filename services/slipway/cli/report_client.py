"""A server of reports, as the commands call it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from slipway.cli.options import address
from slipway.cli.remote import CALL_SECONDS, answered, right_address, trust_domain
from slipway.contract.roles import REPORTS
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke, stream
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceStub

if TYPE_CHECKING:
    from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceAsyncStub

A = TypeVar("A")
F = TypeVar("F", bound=Callable[..., Any])
_LONGEST_TOKEN = 65_536


@dataclass(frozen=True, slots=True)
class Server:
    """Where the reports are, and of which machines.

    Attributes:
        server: HOST:PORT.
        tls_cert_dir: own certificates; None for a server on this machine without TLS.
        token_file: has a token of the management cluster, where the server asks for one.
        namespace: of the machines.
        cluster: of the machines; "" for all.
    """

    server: str
    tls_cert_dir: Path | None
    token_file: Path | None
    namespace: str
    cluster: str


def report_options(command: F) -> F:
    """Add the options that say where the reports are, of which `--server` must be given."""
    return _options(command, required=True)


def optional_report_options(command: F) -> F:
    """Add the same options, of which none must be given."""
    return _options(command, required=False)


def _options(command: F, *, required: bool) -> F:
    options = (
        click.option(
            "--server", required=required, default=None if required else "",
            envvar="SLIPWAY_REPORTS_SERVER", metavar="HOST:PORT", callback=address,
            help="The --management-address of the node gateway.",
        ),
        click.option(
            "--tls-cert-dir", default=None, envvar="SLIPWAY_TLS_CERT_DIR",
            type=click.Path(path_type=Path, file_okay=False), help="Directory with tls.crt, tls.key and ca.crt.",
        ),
        click.option("--insecure", is_flag=True, help="Call a server on this machine without TLS."),
        click.option(
            "--token-file", default=None, type=click.Path(path_type=Path, dir_okay=False),
            help="A token of the management cluster: kubectl create token NAME --audience slipway.",
        ),
        click.option("-n", "--namespace", default="default", show_default=True, metavar="NAME", help="Its name."),
        click.option("--cluster", default="", metavar="NAME", help="Only machines of this cluster."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def server_from(values: dict[str, Any]) -> Server:
    """Take these options out of a command's values.

    Raises:
        click.UsageError: neither TLS nor --insecure was given, or no server.
    """
    if not values["server"]:
        raise click.UsageError("give --server HOST:PORT, --kubeconfig FILE, or -f FILE")
    if values["tls_cert_dir"] is None and not values["insecure"]:
        raise click.UsageError("a server needs --tls-cert-dir DIR, or --insecure when it is on this machine")
    del values["insecure"]
    return Server(
        **{name: values.pop(name) for name in ("server", "tls_cert_dir", "token_file", "namespace", "cluster")}
    )


class ReportClient:
    """Calls a server. All calls raise ServerUnreachableError too."""

    def __init__(self, server: Server) -> None:
        """Prepare a channel; nothing is dialled yet.

        Raises:
            click.UsageError: the file of the token cannot be read, or the address needs TLS.
        """
        tls = None if server.tls_cert_dir is None else CertificateFiles(server.tls_cert_dir)
        self._server = server
        self._channels = ChannelPool(tls=tls, trust_domain=trust_domain(tls))
        self._authorization = "" if server.token_file is None else f"Bearer {_token(server.token_file)}"

    async def reports(self, *, machine: str = "", state: int = 0) -> list[reportspb.Report]:
        """Give the last report of each machine, or of the machines of a name."""
        reports: list[reportspb.Report] = []
        request = reportspb.ListReportsRequest(
            namespace=self._server.namespace, cluster=self._server.cluster, machine=machine
        )
        request.state = state  # type: ignore[assignment]  # a number of the enum
        while True:
            answer = await self._call(lambda stub: self._invoke(stub.ListReports, request))
            reports += answer.reports
            if not answer.next_page_token:
                return reports
            request.page_token = answer.next_page_token

    async def report(self, machine: reportspb.ReportedMachine) -> reportspb.Report:
        """Give the report of one machine with its events."""
        request = reportspb.GetReportRequest(machine=machine)
        response: reportspb.GetReportResponse = await self._call(lambda stub: self._invoke(stub.GetReport, request))
        return response.report

    async def changes(self) -> AsyncIterator[reportspb.WatchReportsResponse]:
        """Give all reports, and each that changes; it ends with the stream."""
        request = reportspb.WatchReportsRequest(namespace=self._server.namespace, cluster=self._server.cluster)
        with right_address(self._server.server):
            stub = self._stub()
        messages = stream(stub.WatchReports, request, authorization=self._authorization)
        while True:
            message = await answered(anext(messages, None), self._name)
            if message is None:
                return
            yield message

    async def log_bundle(self, machine: reportspb.ReportedMachine) -> bytes:
        """Give the last log bundle of one machine."""
        with right_address(self._server.server):
            stub = self._stub()
        request = reportspb.GetLogBundleRequest(machine=machine)
        parts = stream(stub.GetLogBundle, request, timeout=CALL_SECONDS, authorization=self._authorization)
        data = b""
        while part := await answered(anext(parts, None), self._name):
            data += part.data
        return data

    async def close(self) -> None:
        """Close the channel."""
        await self._channels.close()

    @property
    def _name(self) -> str:
        return f"server of reports at {self._server.server}"

    def _stub(self) -> "ReportServiceAsyncStub":
        return ReportServiceStub(self._channels.get(self._server.server, role=REPORTS))

    def _invoke(self, method: Any, request: Any) -> Awaitable[Any]:
        return invoke(method, request, timeout=CALL_SECONDS, authorization=self._authorization)

    async def _call(self, call: Callable[["ReportServiceAsyncStub"], Awaitable[A]]) -> A:
        with right_address(self._server.server):
            stub = self._stub()
        return await answered(call(stub), self._name)


def _token(path: Path) -> str:
    try:
        with path.open(encoding="ascii") as stream_of_token:
            token = stream_of_token.read(_LONGEST_TOKEN).strip()
    except (OSError, UnicodeError) as error:
        raise click.UsageError(f"--token-file: {type(error).__name__}; it must hold one token") from None
    if not token or not token.isprintable() or " " in token:
        raise click.UsageError("--token-file: must hold one token")
    return token
