"""What a machine's evidence says, as it came from anywhere: a file, or a log bundle with that file in it."""

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from slipway.diagnosis.log_files import LogError, logs_of

_MEMBER = "var/lib/slipway/evidence.json"
_LONGEST = 512
_MOST = 4096


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
