"""A report as people read it: the same words on the command line and on the web page."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Self

from slipway.contract.yaml_names import enum_word
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_service_pb2 as reportspb

STATES = {
    name.removeprefix("REPORT_STATE_").lower(): number for name, number in reportspb.ReportState.items() if number
}
"""The states by their words."""

COLUMNS = ("cluster", "machine", "state", "phase", "step", "reason", "source", "logs", "age")
"""The columns of a table of reports: Row.cells()."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400


@dataclass(frozen=True, slots=True)
class Row:
    """What a table shows of a report, by the source that counts; a text is empty where nothing is known.

    Attributes:
        cluster: name of the cluster.
        machine: name of the Machine.
        state: how far the bootstrap came.
        phase: of the step that failed, or of the last one.
        step: id of that step.
        reason: why it failed.
        source: where the report comes from.
        has_logs: whether a log bundle was received.
        time: when the last part was received.
    """

    cluster: str
    machine: str
    state: str
    phase: str
    step: str
    reason: str
    source: str
    has_logs: bool
    time: datetime

    @classmethod
    def of(cls, report: reportspb.Report) -> Self:
        """Read a report."""
        part = report.sources[0] if report.sources else reportspb.SourceReport()
        return cls(
            cluster=report.machine.cluster,
            machine=report.machine.name,
            state=state_of(report),
            phase=phase_of(part),
            step=part.step,
            reason=part.reason,
            source=source_of(part) if report.sources else "",
            has_logs=report.HasField("log_bundle"),
            time=report.receive_time.ToDatetime(UTC),
        )

    def cells(self, now: datetime) -> list[str]:
        """Give the cells of the COLUMNS."""
        texts = (self.cluster, self.machine, self.state, self.phase, self.step, self.reason, self.source)
        return [*texts, "yes" if self.has_logs else "", age(now, self.time)]


def age(now: datetime, then: datetime) -> str:
    """Give an age as kubectl does: one unit, the largest that fits."""
    seconds = max(int((now - then).total_seconds()), 0)
    for unit, letter in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "m")):
        if seconds >= unit:
            return f"{seconds // unit}{letter}"
    return f"{seconds}s"


def state_of(report: reportspb.Report) -> str:
    """Give the state by the source that counts; empty without a source."""
    return state_of_source(report.sources[0]) if report.sources else ""


def state_of_source(part: reportspb.SourceReport) -> str:
    """Give the state that a source reports."""
    return enum_word(reportspb.ReportState.DESCRIPTOR, part.state)


def phase_of(part: reportspb.SourceReport) -> str:
    """Give the phase; empty for the whole bootstrap."""
    return enum_word(planpb.Phase.DESCRIPTOR, part.phase) if part.phase else ""


def source_of(part: reportspb.SourceReport) -> str:
    """Give the source: "file" for what was read out of files of a machine."""
    return enum_word(reportspb.ReportSource.DESCRIPTOR, part.source) if part.source else "file"
