"""What a machine reported of its bootstrap, as far as a condition says it."""

from dataclasses import dataclass, field
from typing import Self

from slipway.contract.yaml_names import enum_word
from slipway.reports.names import reason_of
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_service_pb2 as reportspb


@dataclass(frozen=True, slots=True)
class MachineReport:
    """The source of a report that counts. Of a bootstrap that goes on, no step is kept: each would be a new status.

    Attributes:
        bundle_id: the bundle that the machine executes.
        state: how far it came.
        of_console: it was read out of the console, where any program can write.
        phase: of the step that failed, as people write it; "" for the whole bootstrap.
        step: that step.
        exit_code: of it.
        reason: why it failed, as in BootstrapEvent; "" where it breaks the grammar of reasons.
        logs_reason: what the diagnosis found in its logs, or "".
        sequence: of its last event, where one machine has several texts; else 0. It is no part of what is said.
    """

    bundle_id: str
    state: reportspb.ReportState.ValueType
    of_console: bool
    phase: str = ""
    step: str = ""
    exit_code: int = 0
    reason: str = ""
    logs_reason: str = ""
    sequence: int = field(default=0, compare=False)

    def precedes(self, other: Self | None) -> bool:
        """Whether it is an earlier report of the same bootstrap."""
        return other is not None and self.sequence < other.sequence

    @classmethod
    def of(cls, report: reportspb.Report) -> Self | None:
        """Read a report; None where it has no source."""
        if not report.sources:
            return None
        source = report.sources[0]
        of_console = source.source == reportspb.REPORT_SOURCE_CONSOLE
        if source.state != reportspb.REPORT_STATE_FAILED:
            return cls(report.bundle_id, source.state, of_console)
        phase = "" if not source.phase else enum_word(planpb.Phase.DESCRIPTOR, source.phase)
        return cls(
            report.bundle_id, source.state, of_console, phase, source.step, source.exit_code,
            reason_of(source.reason), reason_of(report.log_bundle.reason),
        )  # fmt: skip
