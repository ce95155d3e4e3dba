"""The names of kept objects. They are the index: what a list of machines shows is read from names alone.

A name is `reports/NAMESPACE/CLUSTER/MACHINE/BUNDLE/` and the object's own facts, separated by underscores. None of the
grammars takes a slash or an empty part, none of the facts an underscore: two different objects have different names,
and none leads out of its folder.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from slipway.contract.grammars import grammars
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_service_pb2 as reportspb

ROOT = "reports"
"""Folder of all reports in the store."""

_PARTS = (("namespace", "dns-label", 63), ("cluster", "dns-subdomain", 63), ("machine", "dns-subdomain", 253),
          ("bundle_id", "identifier", 128))  # fmt: skip
_SOURCES = {"sink": reportspb.REPORT_SOURCE_SINK, "console": reportspb.REPORT_SOURCE_CONSOLE}
_STATES = {
    "unfinished": reportspb.REPORT_STATE_UNFINISHED,
    "failed": reportspb.REPORT_STATE_FAILED,
    "complete": reportspb.REPORT_STATE_COMPLETE,
}
_EVENTS = re.compile(
    r"([0-9]{13})_(sink|console)_([0-9a-f]{16})_(unfinished|failed|complete)_([a-z]{0,16})_(-?[0-9]{1,10})_"
    r"([A-Za-z0-9]{0,63})_([a-z0-9-]{0,63})\.jsonl",
    re.ASCII,
)
_LOGS = re.compile(r"([0-9]{13})_logs_([0-9a-f]{16})(?:_([A-Za-z0-9]{1,63}))?\.tar\.gz", re.ASCII)
_DEPTH = 6
_LONGEST_REASON = 63


class NameInvalid(ValueError):  # noqa: N818  # subject and state, as the contract names its errors
    """A part of a name breaks its grammar; the text names the part, never its value."""


@dataclass(frozen=True, slots=True)
class BundleKey:
    """The bundle of a machine.

    Attributes:
        namespace: of the Machine.
        cluster: name of the cluster.
        machine: name of the Machine.
        bundle_id: id of the bundle.
    """

    namespace: str
    cluster: str
    machine: str
    bundle_id: str

    def __post_init__(self) -> None:
        """Refuse a part that could be a part of another name.

        Raises:
            NameInvalid: it breaks its grammar.
        """
        for name, grammar, longest in _PARTS:
            text = getattr(self, name)
            if len(text) > longest or not grammars()[grammar].check(text):
                raise NameInvalid(f"{name} must be {grammars()[grammar].description}")

    @property
    def folder(self) -> str:
        """Where its objects are."""
        return f"{ROOT}/{self.namespace}/{self.cluster}/{self.machine}/{self.bundle_id}"

    @property
    def place(self) -> str:
        """The place of the machine among those of its namespace, in the order of the names."""
        return f"{self.cluster}/{self.machine}/"


@dataclass(frozen=True, slots=True)
class Summary:
    """How far a bootstrap came, as far as a list shows it. The fields are those of SourceReport."""

    state: reportspb.ReportState.ValueType
    phase: planpb.Phase.ValueType
    step: str
    exit_code: int
    reason: str


@dataclass(frozen=True, slots=True)
class EventsName:
    """Name of the events that a source has reported.

    Attributes:
        milliseconds: when they were received, since 1970 (UTC).
        source: where they are from.
        digest: 16 hexadecimal digits of the SHA-256 of the content.
        summary: what they mean.
    """

    milliseconds: int
    source: reportspb.ReportSource.ValueType
    digest: str
    summary: Summary

    def text(self) -> str:
        """Give the last part of the name."""
        words = (
            f"{self.milliseconds:013}",
            _word(_SOURCES, self.source),
            self.digest,
            _word(_STATES, self.summary.state),
            planpb.Phase.Name(self.summary.phase).removeprefix("PHASE_").lower() if self.summary.phase else "",
            str(self.summary.exit_code),
            self.summary.reason,
            self.summary.step,
        )
        return "_".join(words) + ".jsonl"


@dataclass(frozen=True, slots=True)
class LogsName:
    """Name of a log bundle; the other attributes are those of EventsName.

    Attributes:
        reason: the first one that the diagnosis found in it, or "".
    """

    milliseconds: int
    digest: str
    reason: str = ""

    def text(self) -> str:
        """Give the last part of the name."""
        reason = f"_{self.reason}" if self.reason else ""
        return f"{self.milliseconds:013}_logs_{self.digest}{reason}.tar.gz"


@dataclass(frozen=True, slots=True)
class Entry:
    """An object of the store.

    Attributes:
        key: the bundle that it is of.
        name: what it is.
        bytes: its size.
    """

    key: BundleKey
    name: EventsName | LogsName
    bytes: int

    @property
    def path(self) -> str:
        """Its name in the store."""
        return f"{self.key.folder}/{self.name.text()}"

    @classmethod
    def of(cls, path: str, size: int) -> Self | None:
        """Read a name of the store; None for an object of another kind."""
        parts = path.split("/")
        if len(parts) != _DEPTH or parts[0] != ROOT:
            return None
        name = _events_name(parts[-1]) or _logs_name(parts[-1])
        if name is None:
            return None
        try:
            return cls(BundleKey(*parts[1:-1]), name, size)
        except NameInvalid:
            return None


def folder_of(namespace: str, cluster: str = "", machine: str = "") -> str:
    """Give the folder of a namespace, of a cluster in it, or of a machine; the parts are valid."""
    return "/".join(part for part in (ROOT, namespace, cluster, machine if cluster else "") if part)


def reason_of(text: str) -> str:
    """Give a reason that names and conditions may hold: the text, or "" where it breaks the grammar of reasons."""
    return text if len(text) <= _LONGEST_REASON and grammars()["reason"].check(text) else ""


def _events_name(text: str) -> EventsName | None:
    matched = _EVENTS.fullmatch(text)
    if matched is None:
        return None
    time, source, digest, state, phase, exit_code, reason, step = matched.groups()
    try:
        number = planpb.Phase.Value(f"PHASE_{phase.upper()}") if phase else planpb.PHASE_UNSPECIFIED
    except ValueError:
        return None
    summary = Summary(_STATES[state], number, step, int(exit_code), reason)
    return EventsName(int(time), _SOURCES[source], digest, summary)


def _logs_name(text: str) -> LogsName | None:
    matched = _LOGS.fullmatch(text)
    return None if matched is None else LogsName(int(matched[1]), matched[2], matched[3] or "")


def _word(words: Mapping[str, int], number: int) -> str:
    return next(word for word, value in words.items() if value == number)
