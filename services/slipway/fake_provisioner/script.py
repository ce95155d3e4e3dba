"""What a script may say: a YAML document, read strictly, lest a fault with a wrong name be a test that passes."""

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from slipway.contract.go_duration import parse_duration
from slipway.v1alpha1.reasons import Code, Reason

_CALLS = re.compile(r"(?P<first>[1-9][0-9]*)(?:(?P<open>-)(?P<last>[1-9][0-9]*)?)?", re.ASCII)


class ScriptError(Exception):
    """The script cannot be used; the text names its fields."""


def _seconds(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError('must be a duration such as "2s"')  # noqa: TRY004  # what pydantic takes
    return parse_duration(value).ToNanoseconds() / 1e9


Seconds = Annotated[float, BeforeValidator(_seconds, json_schema_input_type=str)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, hide_input_in_errors=True)


class Fault(StrEnum):
    """What goes wrong with a call."""

    NONE = "None"
    STATUS = "Status"
    HANG = "Hang"
    DIE = "Die"
    WRONG_TAG = "WrongTag"
    WRONG_FORMAT = "WrongFormat"
    WRONG_VERSION = "WrongVersion"
    WRONG_NAME = "WrongName"
    BAD_HASH = "BadHash"
    EMPTY = "Empty"
    FLOOD = "Flood"
    EXPIRES = "Expires"
    REFUSES = "Refuses"
    LEAVES_OUT = "LeavesOut"
    STRANGE_ATTACHMENT = "StrangeAttachment"
    ANSWERS_CHECK = "AnswersCheck"
    OTHER_FEATURES = "OtherFeatures"
    NOT_ADVERTISED = "NotAdvertised"
    NO_FORMATS = "NoFormats"
    NOT_SERVING = "NotServing"
    UNKNOWN_SERVICE = "UnknownService"


_ANY = {Fault.NONE, Fault.STATUS, Fault.HANG, Fault.DIE}
RENDER = _ANY | {
    Fault.WRONG_TAG, Fault.WRONG_FORMAT, Fault.WRONG_VERSION, Fault.BAD_HASH, Fault.EMPTY, Fault.FLOOD, Fault.EXPIRES,
    Fault.REFUSES, Fault.LEAVES_OUT, Fault.STRANGE_ATTACHMENT, Fault.ANSWERS_CHECK,
}  # fmt: skip
INFO = _ANY | {
    Fault.WRONG_NAME, Fault.WRONG_VERSION, Fault.OTHER_FEATURES, Fault.NOT_ADVERTISED, Fault.NO_FORMATS, Fault.FLOOD,
}  # fmt: skip
HEALTH = _ANY | {Fault.NOT_SERVING, Fault.UNKNOWN_SERVICE}
_OPTIONS = {
    Fault.STATUS: {"code", "reason", "message", "retry_after", "fields"},
    Fault.FLOOD: {"bytes"},
    Fault.EXPIRES: {"expires_in"},
    Fault.REFUSES: {"feature"},
    Fault.LEAVES_OUT: {"feature"},
}


class FieldFault(_Part):
    """A field violation of a status: a path in the bundle, the feature, and a sentence."""

    path: str
    feature: str = ""
    description: str = "is refused by the script"


class Step(_Part):
    """What becomes of some calls.

    Attributes:
        calls: which: "3", "2-4", "5-", counted from 1 for each process; "" for all that no step before names.
        fault: what goes wrong.
        after: the call waits so long first.
        code: of Status, e.g. "UNAVAILABLE"; that of the reason when there is one.
        reason: of Status: of the table of errors, or "" for a status as some proxy would give it.
        message: of Status.
        retry_after: of Status: the delay in its RetryInfo.
        fields: of Status: its field violations.
        feature: of Refuses and LeavesOut: the feature of the items.
        expires_in: of Expires: how long after the answer the user data expires.
        bytes: of Flood: the size of the user data, or of what it says of itself.
    """

    calls: str = ""
    fault: Fault = Fault.NONE
    after: Seconds = 0.0
    code: Code | None = None
    reason: str = ""
    message: str = "as the script says"
    retry_after: Seconds | None = None
    fields: tuple[FieldFault, ...] = ()
    feature: str = ""
    expires_in: Seconds = 0.0
    bytes: int = Field(default=2 * 1024 * 1024, ge=0, le=64 * 1024 * 1024)

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: Any) -> Any:
        """Read a number of a call as text, and a code by its name."""
        if isinstance(value, dict):
            value = dict(value)
            if isinstance(value.get("calls"), int) and not isinstance(value["calls"], bool):
                value["calls"] = str(value["calls"])
            if isinstance(value.get("code"), str) and value["code"] in Code.__members__:
                value["code"] = Code[value["code"]]
        return value

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.calls and not _CALLS.fullmatch(self.calls):
            raise ValueError('calls must be "3", "2-4" or "5-"')
        known = {"calls", "fault", "after"} | _OPTIONS.get(self.fault, set())
        strange = sorted(to_camel(name) for name in self.model_fields_set - known)
        if strange:
            raise ValueError(f"{', '.join(strange)}: not for fault {self.fault.value}")
        if self.fault is Fault.STATUS and self.reason and self.reason not in Reason.__members__:
            raise ValueError("reason is not in the table of errors")
        if self.fault is Fault.STATUS and not self.reason and self.code is None:
            raise ValueError("Status needs a code or a reason")
        if self.fault in {Fault.REFUSES, Fault.LEAVES_OUT} and not self.feature:
            raise ValueError(f"{self.fault.value} needs a feature")
        return self

    def covers(self, number: int) -> bool:
        """Whether it is about the call of that number."""
        match = _CALLS.fullmatch(self.calls)
        if match is None:
            return True
        first = int(match["first"])
        last = int(match["last"]) if match["last"] else (number if match["open"] else first)
        return first <= number <= last


class Registration(_Part):
    """How it registers.

    Attributes:
        announce: it registers at all.
        name: under this name in place of its own.
        endpoint: with this address in place of its own.
        instances: so many instances at one address.
        renew: it renews its lease.
        deregister: it gives its lease back at the end.
    """

    announce: bool = True
    name: str = ""
    endpoint: str = ""
    instances: int = Field(default=1, ge=1, le=200)
    renew: bool = True
    deregister: bool = True


class Script(_Part):
    """The whole script. Everything has a default: an empty one is a sound provisioner.

    Attributes:
        name: the provisioner's.
        version: the implementation's.
        format: id of its one format; that of its name when empty.
        kubernetes: what it takes: a plan, or the intent.
        features: what it declares.
        render: steps for Render; the first that covers a call counts.
        info: steps for GetProvisionerInfo.
        health: steps for the health check.
        registration: how it registers.
    """

    name: str = "fake"
    version: str = "1.0.0"
    format: str = ""
    kubernetes: Literal["Plan", "Intent"] = "Plan"
    features: tuple[str, ...] = ("os.files", "plan.entrypoint")
    render: tuple[Step, ...] = ()
    info: tuple[Step, ...] = ()
    health: tuple[Step, ...] = ()
    registration: Registration = Registration()

    @model_validator(mode="after")
    def _faults_fit(self) -> Self:
        for name, steps, known in (
            ("render", self.render, RENDER),
            ("info", self.info, INFO),
            ("health", self.health, HEALTH),
        ):
            strange = sorted({step.fault.value for step in steps if step.fault not in known})
            if strange:
                raise ValueError(f"{name}: has no fault {', '.join(strange)}")
        return self


SOUND = Step()
"""The result of a call that no step covers."""


def step_for(steps: Sequence[Step], number: int) -> Step:
    """Give the step for the call of a number, counted from 1."""
    return next((step for step in steps if step.covers(number)), SOUND)


def read_script(path: Path) -> Script:
    """Read a script.

    Raises:
        ScriptError: it cannot be read, or says something that there is not.
    """
    try:
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ScriptError(f"{path}: {type(error).__name__}: it must be a YAML file") from None
    try:
        return Script.model_validate({} if tree is None else tree)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        lines = [
            f"{'.'.join(map(str, problem['loc'])) or 'script'}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in problems
        ]
        raise ScriptError(f"{path}: " + "; ".join(lines)) from None
