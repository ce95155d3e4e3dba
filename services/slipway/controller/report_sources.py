"""Where the controller has reports of machines from, and which one counts where several sources have some."""

from collections.abc import Callable, Sequence
from typing import Protocol

from slipway.controller.machine_report import MachineReport
from slipway.v1alpha1 import report_service_pb2 as reportspb


class ReportSource(Protocol):
    """Follows reports of machines.

    Attributes:
        changed: gets namespace and name of each Machine of which there is a new report.
    """

    changed: Callable[[str, str], None]

    def get(self, namespace: str, cluster: str, machine: str) -> MachineReport | None:
        """Give the last report of a machine; None where none is known."""

    async def run(self) -> None:
        """Follow until cancelled."""


def report_of(sources: Sequence[ReportSource]) -> Callable[[str, str, str], MachineReport | None]:
    """Give what finds the report of a machine by its namespace, cluster and name.

    An end counts before a bootstrap that goes on, what a machine sent before its console, the earlier source of equals.
    """

    def find(namespace: str, cluster: str, machine: str) -> MachineReport | None:
        reports = [source.get(namespace, cluster, machine) for source in sources]
        known = [report for report in reports if report is not None]
        return max(known, key=_weight, default=None)

    return find


def _weight(report: MachineReport) -> tuple[bool, bool]:
    return report.state != reportspb.REPORT_STATE_UNFINISHED, not report.of_console
