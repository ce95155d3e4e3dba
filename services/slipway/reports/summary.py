"""From events to what a list shows of a bootstrap, and from kept events to the report of a source."""

import json
from collections.abc import Iterable, Sequence

from google.protobuf import json_format
from google.protobuf.message import Message

from slipway.diagnosis.bootstrap_events import MOST, Event, events_of
from slipway.diagnosis.log_files import Log
from slipway.diagnosis.log_text import decoded
from slipway.diagnosis.timeline import Progress, Timeline, phase_seconds, timelines
from slipway.reports.names import Summary
from slipway.v1alpha1 import report_pb2 as reportpb
from slipway.v1alpha1 import report_service_pb2 as reportspb

MOST_EVENTS = 1000
"""Events that are kept of a bundle and source: the last ones. A bootstrap has some ten steps."""

_STATES = {
    Progress.COMPLETE: reportspb.REPORT_STATE_COMPLETE,
    Progress.FAILED: reportspb.REPORT_STATE_FAILED,
    Progress.UNFINISHED: reportspb.REPORT_STATE_UNFINISHED,
}


def read_events(data: bytes, bundle_id: str) -> tuple[list[reportpb.BootstrapEvent], int]:
    """Give the events of a bundle in a file of events or the text of a console, and the number of those of others.

    Nothing else of the text is in them: each field has its grammar. However many others there are, they take no place
    of the bundle's own; beyond 10,000 they are not counted.
    """
    logs = [Log("", decoded(data))]
    events = events_of(logs)
    own = [event.message for event in events if event.message.bundle_id == bundle_id]
    if len(events) < MOST:
        return own, len(events) - len(own)
    return [event.message for event in events_of(logs, bundle_id=bundle_id)], len(events) - len(own)


def merged(*parts: Iterable[reportpb.BootstrapEvent]) -> list[reportpb.BootstrapEvent]:
    """Give the events of several readings in their order, each once; at most MOST_EVENTS, the last ones."""
    events = {event.SerializeToString(deterministic=True): event for part in parts for event in part}
    return sorted(events.values(), key=lambda event: event.sequence)[-MOST_EVENTS:]


def lines(events: Iterable[reportpb.BootstrapEvent]) -> bytes:
    """Give events as the executors write them: a line each, in the canonical JSON form."""
    return b"".join(_line(event) for event in events)


def summary(events: Sequence[reportpb.BootstrapEvent]) -> Summary:
    """Give how far the bootstrap of one bundle came; `events` are in order, and there is one at least."""
    (timeline,) = timelines([Event(event, "", 0) for event in events])
    state = _STATES[timeline.progress]
    if timeline.failing is not None:
        failing = timeline.failing.message
        return Summary(state, failing.phase, failing.step, failing.exit_code, failing.reason)
    last = _last(timeline)
    return Summary(state, last.phase, last.step, 0, "")


def phases(events: Sequence[reportpb.BootstrapEvent]) -> dict[str, float]:
    """Give the seconds of each phase of the bootstrap of one bundle; `events` as of summary()."""
    (timeline,) = timelines([Event(event, "", 0) for event in events])
    return phase_seconds(timeline)


def _last(timeline: Timeline) -> reportpb.BootstrapEvent:
    """Give the event that stands for the end: that of the whole bootstrap, once there was one."""
    whole = (event.message for event in reversed(timeline.events) if not event.message.step)
    last = timeline.events[-1].message
    return next(whole, last) if timeline.progress == Progress.COMPLETE else last


def _line(event: Message) -> bytes:
    # The members are in the order of the fields, so that the bundle's id is the first: by that an event is found.
    return json.dumps(json_format.MessageToDict(event), separators=(",", ":")).encode() + b"\n"
