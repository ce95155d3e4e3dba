"""Lines of a log in which an executor writes its events, and how tests read them."""

import json
from typing import Any

from slipway.diagnosis.bootstrap_events import Event, events_of
from slipway.diagnosis.log_files import logs_of

BUNDLE = "0123456789abcdef"


def line(sequence: int, state: str, step: str = "", /, **more: Any) -> str:
    """Give an event as an executor writes it, without line end."""
    event = {
        "bundleId": BUNDLE, "sequence": sequence, "time": f"2026-01-02T03:04:{sequence:02}Z", "hostname": "node-1",
        "executor": "EXECUTOR_SHELL",
        **({"phase": "PHASE_BOOTSTRAP", "step": step} if step else {}),
        "state": f"EVENT_STATE_{state}",
    } | more  # fmt: skip
    return json.dumps(event, separators=(",", ":"))


RUN = [
    line(1, "STARTED", "10-files"),
    line(2, "SUCCEEDED", "10-files"),
    line(3, "STARTED", "20-kubeadm"),
    line(4, "FAILED", "20-kubeadm", exitCode=1, reason="CommandFailed"),
]


def read(text: str | bytes, **more: Any) -> list[Event]:
    """Give the events of one log."""
    return events_of(logs_of("console", text.encode() if isinstance(text, str) else text), **more)


def short(events: list[Event]) -> list[tuple[int, str, int]]:
    """Give number, step and line of events."""
    return [(event.message.sequence, event.message.step, event.line) for event in events]
