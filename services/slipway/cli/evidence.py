"""What a machine's evidence says, and why there is none, which is a state of its own and no failure of a control.

Evidence may come from anywhere: a file, or a log bundle with that file in it.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from slipway.contract.errors import ReportNotFound
from slipway.diagnosis.log_files import LogError, logs_of
from slipway.v1alpha1 import report_service_pb2 as reportspb

_MEMBER = "var/lib/slipway/evidence.json"
_LONGEST = 512
_MOST = 4096

EVIDENCE_NOT_SENT = "EVIDENCE_NOT_SENT"
"""The bootstrap of the machine is complete, and it has sent no evidence."""
BOOTSTRAP_NOT_COMPLETE = "BOOTSTRAP_NOT_COMPLETE"
"""The bootstrap has failed, has not ended, or its end was not reported: evidence is its last step."""
EVIDENCE_NOT_READABLE = "EVIDENCE_NOT_READABLE"
"""What the machine has sent is damaged, or of another version, or the server does not give it."""


class EvidenceMissingError(LogError):
    """A file can be read, and holds no evidence."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class Observation(_Part):
    """What was observed of one demand of a control."""

    control: str = Field(max_length=_LONGEST)
    result: Literal["pass", "fail", "not-applicable"]
    observed: str = Field(max_length=_LONGEST)


class EvidenceWaiver(_Part):
    """A control that the machine need not meet."""

    control: str = Field(max_length=_LONGEST)
    reason: str = Field(max_length=4 * _LONGEST)
    expire_time: AwareDatetime | None = None


class Evidence(_Part):
    """The evidence of one machine; its fields are those of the file."""

    version: Literal[1]
    bundle_id: str = Field(max_length=_LONGEST)
    hostname: str = Field(max_length=_LONGEST)
    time: AwareDatetime
    role: Literal["ROLE_INIT", "ROLE_CONTROL_PLANE", "ROLE_WORKER"]
    profiles: tuple[str, ...] = Field(min_length=1, max_length=_MOST)
    waivers: tuple[EvidenceWaiver, ...] = Field(max_length=_MOST)
    controls: tuple[Observation, ...] = Field(max_length=_MOST)

    def waiver_of(self, control: str) -> EvidenceWaiver | None:
        """Give the waiver of a control; None if it is not waived."""
        return next((waiver for waiver in self.waivers if waiver.control == control), None)

    def is_waived(self, control: str, now: datetime) -> bool:
        """Return whether a control is waived at a time."""
        waiver = self.waiver_of(control)
        return waiver is not None and (waiver.expire_time is None or waiver.expire_time > now)


def evidence_of(name: str, data: bytes) -> Sequence[Evidence]:
    """Give the evidence in a file: the file itself, or each such file of a log bundle.

    Raises:
        EvidenceMissingError: the file holds no evidence.
        LogError: the file cannot be read, or the evidence is damaged.
    """
    logs = [log for log in logs_of(name, data) if not log.member or log.name.endswith(_MEMBER)]
    collected = [_parsed(log.name, log.text or "") for log in logs]
    if not collected:
        raise EvidenceMissingError(
            f"{name}: holds no evidence; has the machine compliance profiles, and was its bootstrap complete?"
        )
    return collected


def _parsed(name: str, text: str) -> Evidence:
    try:
        return Evidence.model_validate(json.loads(text))
    except ValidationError as error:
        raise LogError(f"{name}: is not evidence of this version: {next(_mistakes(error))}") from None
    except (ValueError, RecursionError):
        raise LogError(f"{name}: is not evidence: it is not JSON") from None


def _mistakes(error: ValidationError) -> Iterator[str]:
    for mistake in error.errors():
        yield f"{'.'.join(map(str, mistake['loc']))}: {mistake['msg'][:1].lower()}{mistake['msg'][1:]}"


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
