"""Why there is no evidence of a machine: a state of its own, which is no failure of a control."""

from dataclasses import dataclass

from slipway.cli.evidence_file import EvidenceMissingError
from slipway.contract.errors import ReportNotFound
from slipway.v1alpha1 import report_service_pb2 as reportspb

EVIDENCE_NOT_SENT = "EVIDENCE_NOT_SENT"
"""The bootstrap of the machine is complete, and it has sent no evidence."""
BOOTSTRAP_NOT_COMPLETE = "BOOTSTRAP_NOT_COMPLETE"
"""The bootstrap has failed, has not ended, or its end was not reported: evidence is its last step."""
EVIDENCE_NOT_READABLE = "EVIDENCE_NOT_READABLE"
"""What the machine has sent is damaged, or of another version, or the server does not give it."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Why there is no evidence.

    Attributes:
        reason: one of the constants of this module.
        message: what was observed.
    """

    reason: str
    message: str


def absence_of(report: reportspb.Report, name: str, error: Exception) -> Absence:
    """Give why a machine that has a report has no evidence, after what was raised when it was read."""
    message = str(error).removeprefix(f"{name}: ")
    if not isinstance(error, ReportNotFound | EvidenceMissingError):
        return Absence(EVIDENCE_NOT_READABLE, message)
    joined = any(source.state == reportspb.REPORT_STATE_COMPLETE for source in report.sources)
    return Absence(EVIDENCE_NOT_SENT if joined else BOOTSTRAP_NOT_COMPLETE, message)
