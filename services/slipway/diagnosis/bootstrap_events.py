"""Events of a bootstrap (`BootstrapEvent` of the contract), read out of any log or console text.

A serial console mixes them with the kernel's own messages, colours, line ends of two kinds and the output of any
program. So an event is what begins as the executors begin it, decodes as JSON of the contract, and obeys the contract's
rules for each field; all else is no event. Any program can write such a line: events are hints, and a reader that knows
the bundle id of the machine should name it.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from google.protobuf import json_format

from slipway.contract.validation import violations
from slipway.diagnosis.log_files import Log
from slipway.diagnosis.log_text import lines
from slipway.v1alpha1 import report_pb2 as reportpb

LONGEST = 2048
"""Characters of an event; the longest that the contract allows has half of them."""
_SHORTEST = 60
MOST = 10_000
"""Events that are read of all logs together."""
_BEGIN = '{"bundleId":'
_SPREAD = 8
"""Lines over which an event may be spread, by what was written in between."""
# What the kernel and systemd write in the middle of another program's line: a message of their own, up to its end.
_BETWEEN = re.compile(r"\[(?: {0,8}+[0-9]{1,8}+\.[0-9]{6}|  OK  |FAILED|DEPEND)\][^\n]{0,1024}+\n?")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class Event:
    """An event, and where it was read.

    Attributes:
        message: the event itself.
        source: name of the log.
        line: number of the line in which it begins.
    """

    message: reportpb.BootstrapEvent
    source: str
    line: int

    @property
    def time(self) -> datetime:
        """The time by the machine's clock, in UTC."""
        return self.message.time.ToDatetime(UTC)


def events_of(logs: Sequence[Log], *, bundle_id: str = "") -> list[Event]:
    """Give the events in logs of one machine, as they come; one that is in several places is given once.

    With `bundle_id` only events of that bundle are given. There are at most `MOST`.
    """
    seen: dict[bytes, Event] = {}
    for event in (event for log in logs for event in _of_log(log)):
        if len(seen) >= MOST:
            break
        if not bundle_id or event.message.bundle_id == bundle_id:
            seen.setdefault(event.message.SerializeToString(deterministic=True), event)
    return list(seen.values())


def _of_log(log: Log) -> Iterator[Event]:
    begun: _Begun | None = None
    for number, line in lines(log.text or ""):
        if _BEGIN in line:
            *whole, begun = (_Begun(number, _BEGIN + text) for text in line.split(_BEGIN)[1:])
            yield from (event for part in whole for event in part.event(log.name))
        elif begun is not None:
            begun.add(line)
        if begun is not None:
            event = list(begun.event(log.name)) if "}" in line else []
            yield from event
            if event or begun.is_over:
                begun = None


class _Begun:
    """An event that has begun, with what is behind it until it is whole, or can no longer become so.

    Where another one begins it is over: so each character is read a bounded number of times.
    """

    def __init__(self, number: int, text: str) -> None:
        self._number = number
        self._text = text[:LONGEST]
        self._lines = 1

    @property
    def is_over(self) -> bool:
        """Whether no further line can complete it."""
        return self._lines >= _SPREAD or len(self._text) >= LONGEST

    def add(self, line: str) -> None:
        """Take a further line."""
        self._text = f"{self._text}\n{line[:LONGEST]}"[:LONGEST]
        self._lines += 1

    def event(self, source: str) -> Iterator[Event]:
        """Give the event, once it is whole."""
        message = event_of(self._text)
        if message is not None:
            yield Event(message, source, self._number)


def event_of(text: str) -> reportpb.BootstrapEvent | None:
    """Give the event that a text begins with, or None.

    Line ends in the middle of it, and messages of the kernel or of systemd, are left out.
    """
    text = _BETWEEN.sub("", text).replace("\n", "")
    if len(text) < _SHORTEST:
        return None
    try:
        tree, _ = _DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return _message(tree) if isinstance(tree, dict) else None


def _message(tree: Any) -> reportpb.BootstrapEvent | None:
    message = reportpb.BootstrapEvent()
    try:
        # A member of a later version is no error; what is left must be an event all the same.
        json_format.ParseDict(tree, message, ignore_unknown_fields=True)
    except json_format.ParseError:
        return None
    if any(violation.path == "hostname" for violation in violations(message)):
        message.ClearField("hostname")
    is_of_step = message.state != reportpb.EVENT_STATE_COMPLETE
    if any(violations(message)) or bool(message.step) != is_of_step or bool(message.phase) != is_of_step:
        return None
    return message
