"""The events that a machine has written, as messages of the contract."""

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from google.protobuf import json_format

from slipway.contract.validation import violations
from slipway.v1alpha1 import report_pb2 as reportpb

EVENTS = "/var/lib/slipway/events.jsonl"
CONSOLE = "/dev/console"


class Machine(Protocol):
    """What has files."""

    def path(self, path: str) -> Path:
        """Give the place of a file of the machine."""


def events(machine: Machine, path: str = EVENTS) -> list[reportpb.BootstrapEvent]:
    """Give the events of a file, or of the console; each line is exactly one, and obeys the rules of the contract."""
    messages = []
    for line in machine.path(path).read_text().splitlines():
        messages.append(json_format.Parse(line, reportpb.BootstrapEvent()))
        assert not list(violations(messages[-1]))
        assert line.startswith('{"bundleId":"')
    return messages


def short(messages: Iterable[reportpb.BootstrapEvent]) -> str:
    """Give step, state, exit code and reason of events in short: "a started, a failed 3 CommandFailed, complete"."""
    return ", ".join(_short(message) for message in messages)


def _short(message: reportpb.BootstrapEvent) -> str:
    state = reportpb.EventState.Name(message.state).removeprefix("EVENT_STATE_").lower()
    words = [message.step, state, str(message.exit_code or ""), message.reason]
    return " ".join(word for word in words if word)
