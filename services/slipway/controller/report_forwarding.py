"""Passes what machines reported to their own clusters on to the node gateway, which shows it to people.

Nothing waits for it: of each machine the last text is kept until the gateway has taken it, as far as there is room.
"""

import asyncio

import structlog

from slipway.contract.errors import BundleInvalid, SlipwayError
from slipway.contract.roles import REPORTS
from slipway.controller.report_watch import ReportServer, TokenUnreadable
from slipway.rpc.client import invoke
from slipway.rpc.error_mapping import describe_exception
from slipway.rpc.tls import TlsFilesError
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceStub

_SECONDS = 10.0
_PAUSE, _LONGEST_PAUSE = 2.0, 60.0
_MOST_BYTES = 8 * 1024 * 1024
"""Of the texts that wait, with what stands for their machines."""

_log = structlog.get_logger("slipway.controller")


_Place = tuple[str, str, str]
_Value = tuple[str, bytes]


class ReportForwarding:
    """Sends texts of events, as those of consoles: what a machine sent to the gateway itself counts before them."""

    def __init__(self, server: ReportServer) -> None:
        """Send to a server."""
        self._server = server
        self._waiting: dict[_Place, _Value] = {}
        self._bytes = 0
        self._problem = ""

    def take(self, machine: reportspb.ReportedMachine, bundle_id: str, text: str) -> bool:
        """Send the text of a machine later, in place of an earlier one that was not sent; False if there is no room."""
        place = machine.namespace, machine.cluster, machine.name
        # A text of JSON may hold halves of characters, which have no form in UTF-8.
        value = bundle_id, text.encode(errors="replace")
        size = self._bytes + _size(place, value) - _size(place, self._waiting.get(place))
        if size > _MOST_BYTES:
            self._note("TooManyReports")
            return False
        self._waiting[place] = value
        self._bytes = size
        return True

    async def run(self) -> None:
        """Send until cancelled. A server that is absent, refuses or fails is called again, with growing pauses."""
        pause = _PAUSE
        while True:
            await asyncio.sleep(pause)
            try:
                await self._send()
            except (SlipwayError, TlsFilesError, TokenUnreadable) as error:
                self._note(type(error).__name__)
                pause = min(pause * 2, _LONGEST_PAUSE)
            except Exception as error:  # noqa: BLE001  # a defect here must not end the controller
                _log.error("passing reports on failed, begun anew", **describe_exception(error))
                pause = _LONGEST_PAUSE
            else:
                self._note("")
                pause = _PAUSE

    async def _send(self) -> None:
        server = self._server
        while self._waiting:
            place, value = next(iter(self._waiting.items()))
            namespace, cluster, name = place
            bundle_id, text = value
            machine = reportspb.ReportedMachine(namespace=namespace, cluster=cluster, name=name)
            request = reportspb.IngestConsoleRequest(machine=machine, bundle_id=bundle_id, console=text)
            try:
                stub = ReportServiceStub(server.channels.get(server.address, role=REPORTS))
                await invoke(stub.IngestConsole, request, timeout=_SECONDS, authorization=server.authorization())
            except BundleInvalid:
                # The same again would be refused again, and what is behind it would wait.
                _log.warning("report of a workload cluster refused", namespace=namespace, machine=name)
            except BaseException:
                # It is tried again behind the others, so that it holds none of them up.
                self._waiting[place] = self._waiting.pop(place)
                raise
            if self._waiting.get(place) == value:
                del self._waiting[place]
                self._bytes -= _size(place, value)

    def _note(self, problem: str) -> None:
        if problem != self._problem:
            self._problem = problem
            if problem:
                _log.warning("reports of workload clusters not passed on, tried again", failure=problem)
            else:
                _log.info("reports of workload clusters passed on")


def _size(place: _Place, value: _Value | None) -> int:
    return 0 if value is None else sum(map(len, (*place, *value)))
