"""Follows the reports of machines at the node gateway, for as long as it is there: nothing else waits for them."""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

import structlog

from slipway.contract.errors import SlipwayError
from slipway.contract.roles import REPORTS
from slipway.controller.machine_report import MachineReport
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import stream
from slipway.rpc.error_mapping import describe_exception
from slipway.rpc.tls import TlsFilesError
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceStub

STREAMS = 16
"""Namespaces that are followed at a time; a server takes 32 streams of a caller. More of them take turns."""

_STREAM_SECONDS = 300.0
_LOOK_SECONDS = 5.0
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0
_LONGEST_TOKEN = 65_536
_Place = tuple[str, str]
_log = structlog.get_logger("slipway.controller")


class TokenUnreadable(Exception):  # noqa: N818  # the file's state
    """The file of the token cannot be read; the text is the type of the failure."""


@dataclass(frozen=True, slots=True)
class ReportServer:
    """Where the reports are.

    Attributes:
        address: HOST:PORT of ReportService.
        channels: the connections to it.
        token_file: has a token of the management cluster, where the server asks for one; it is read for each stream.
    """

    address: str
    channels: ChannelPool
    token_file: Path | None = None

    def authorization(self) -> str:
        """Give the header of that name, "" for none.

        Raises:
            TokenUnreadable: the file cannot be read.
        """
        if self.token_file is None:
            return ""
        try:
            with self.token_file.open(encoding="ascii") as file:
                return f"Bearer {file.read(_LONGEST_TOKEN).strip()}"
        except (OSError, UnicodeError) as error:
            raise TokenUnreadable(type(error).__name__) from None


class ReportWatch:
    """The last report of each machine."""

    def __init__(self, server: ReportServer, namespaces: Callable[[], Collection[str]]) -> None:
        """Follow the namespaces that there are; `changed` gets namespace and name of each machine with news."""
        self.changed: Callable[[str, str], None] = lambda _namespace, _machine: None
        self._server = server
        self._namespaces = namespaces
        self._reports: dict[str, dict[_Place, MachineReport]] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._places = asyncio.Semaphore(STREAMS)
        self._problem = ""

    def get(self, namespace: str, cluster: str, machine: str) -> MachineReport | None:
        """Give the last report of a machine; None where none is known."""
        return self._reports.get(namespace, {}).get((cluster, machine))

    async def run(self) -> None:
        """Follow until cancelled. A server that is absent, refuses or fails is called again, with growing pauses."""
        try:
            while True:
                now = set(self._namespaces())
                for namespace in self._tasks.keys() - now:
                    self._tasks.pop(namespace).cancel()
                    self._reports.pop(namespace, None)
                for namespace in [name for name, task in self._tasks.items() if task.done()]:
                    _log_end(self._tasks.pop(namespace))
                for namespace in now - self._tasks.keys():
                    self._tasks[namespace] = asyncio.ensure_future(self._follow(namespace))
                await asyncio.sleep(_LOOK_SECONDS)
        finally:
            for task in self._tasks.values():
                task.cancel()
            await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _follow(self, namespace: str) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                async with self._places, asyncio.timeout(_STREAM_SECONDS):
                    await self._read(namespace)
                pause = _FIRST_PAUSE
            except TimeoutError:
                pause = _FIRST_PAUSE
            except (SlipwayError, TlsFilesError, TokenUnreadable) as error:
                self._note(type(error).__name__)
                pause = min(pause * 2, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _read(self, namespace: str) -> None:
        """Read a stream: first what is there, then each change; where namespaces take turns, only what is there."""
        server = self._server
        stub = ReportServiceStub(server.channels.get(server.address, role=REPORTS))
        request = reportspb.WatchReportsRequest(namespace=namespace)
        known: dict[_Place, MachineReport] = {}
        synced = False
        async for message in stream(stub.WatchReports, request, authorization=server.authorization()):
            for machine in message.deleted:
                known.pop((machine.cluster, machine.name), None)
            for report in message.reports:
                read = MachineReport.of(report)
                if read is not None:
                    self._take(namespace, (report.machine.cluster, report.machine.name), read, known)
            if message.synced and not synced:
                synced = True
                # What is not in it is no longer kept; the conditions keep what they say.
                self._reports[namespace] = known
                self._note("")
            if synced and len(self._tasks) > STREAMS:
                return

    def _take(self, namespace: str, place: _Place, report: MachineReport, known: dict[_Place, MachineReport]) -> None:
        before = self.get(namespace, *place)
        known[place] = report
        self._reports.setdefault(namespace, {})[place] = report
        if report != before:
            self.changed(namespace, place[1])

    def _note(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            if problem:
                _log.warning("reports out of reach, called again", failure=problem)
            else:
                _log.info("reports followed")


def _log_end(task: asyncio.Task[None]) -> None:
    """Log a defect. The end of a stream under its reader, as by new certificates, is not logged."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _log.error("following of reports failed, begun anew", **describe_exception(error))
