"""How far a bootstrap came: its events in order, the steps with their durations, and the step that it failed in."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from slipway.diagnosis.bootstrap_events import Event
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_pb2 as reportpb

_BEGINS = frozenset({reportpb.EVENT_STATE_STARTED, reportpb.EVENT_STATE_RETRYING})
_DONE = frozenset({reportpb.EVENT_STATE_SUCCEEDED, reportpb.EVENT_STATE_REBOOTING})


class Progress(StrEnum):
    """How far a bootstrap came."""

    COMPLETE = "Complete"
    FAILED = "Failed"
    UNFINISHED = "Unfinished"


@dataclass(frozen=True)
class StepRun:
    """A step from its start to its end, or what else was reported.

    Attributes:
        phase: the phase in lower case; empty for the whole bootstrap.
        step: id of the step; empty for the whole bootstrap.
        start: when it started, by the machine's clock; its end, where the start was not read.
        seconds: from its start to its end; None where one of them was not read, or the clock was set back in between.
        tries: how often it was started, as far as that was read.
        last: the last event of it.
    """

    phase: str
    step: str
    start: datetime
    seconds: float | None
    tries: int
    last: Event

    @property
    def state(self) -> str:
        """The state of the last event, in lower case."""
        return reportpb.EventState.Name(self.last.message.state).removeprefix("EVENT_STATE_").lower()


@dataclass(frozen=True)
class Timeline:
    """The bootstrap of one bundle.

    Attributes:
        bundle_id: the bundle.
        events: all events, in order.
        progress: how far it came.
        failing: the event of the step that keeps it from being complete, or None.
    """

    bundle_id: str
    events: tuple[Event, ...]
    progress: Progress
    failing: Event | None

    @property
    def hostname(self) -> str:
        """The last host name that the machine had; empty where it had none."""
        return next((event.message.hostname for event in reversed(self.events) if event.message.hostname), "")


def timelines(events: Sequence[Event]) -> list[Timeline]:
    """Give the bootstrap of each bundle, in the order in which the bundles come."""
    by_bundle: dict[str, list[Event]] = {}
    for event in events:
        by_bundle.setdefault(event.message.bundle_id, []).append(event)
    return [_timeline(bundle_id, members) for bundle_id, members in by_bundle.items()]


def _timeline(bundle_id: str, events: list[Event]) -> Timeline:
    # Events that no file could count have the same number: they stay as they came.
    events.sort(key=lambda event: event.message.sequence)
    failing: dict[str, Event] = {}
    complete = False
    for event in events:
        message = event.message
        if message.state == reportpb.EVENT_STATE_COMPLETE:
            complete = True
            failing.clear()
        elif message.state == reportpb.EVENT_STATE_FAILED:
            failing.setdefault(message.step, event)
        elif message.state in _DONE:
            failing.pop(message.step, None)
    first = next(iter(failing.values()), None)
    progress = Progress.FAILED if first else Progress.COMPLETE if complete else Progress.UNFINISHED
    return Timeline(bundle_id, tuple(events), progress, first)


def step_runs(timeline: Timeline) -> list[StepRun]:
    """Give what a person reads: one entry for each run of a step, by its start, and one for the end.

    What was observed at the end of a run has its own entry behind it.
    """
    runs: list[StepRun] = []
    begun: list[Event] = []
    observed: list[StepRun] = []
    for event in timeline.events:
        if event.message.state == reportpb.EVENT_STATE_OBSERVED:
            observed.append(_run([event]))
            continue
        if begun and event.message.step != begun[0].message.step:
            runs.append(_run(begun))
            begun = []
        if not begun:
            runs += observed
            observed = []
        begun.append(event)
        if event.message.state not in _BEGINS:
            runs += [_run(begun), *observed]
            begun, observed = [], []
    return [*runs, *([_run(begun)] if begun else []), *observed]


def phase_seconds(timeline: Timeline) -> dict[str, float]:
    """Give the seconds that the steps of each phase took together, in the order of the phases' first steps.

    Time between steps, as that of a reboot, is in none of them.
    """
    seconds: dict[str, float] = {}
    for run in step_runs(timeline):
        if run.phase and run.seconds is not None:
            seconds[run.phase] = seconds.get(run.phase, 0.0) + run.seconds
    return seconds


def _run(events: list[Event]) -> StepRun:
    first, last = events[0], events[-1]
    seconds = (last.time - first.time).total_seconds()
    is_whole = first.message.state in _BEGINS and last.message.state not in _BEGINS and seconds >= 0
    return StepRun(
        phase=planpb.Phase.Name(last.message.phase).removeprefix("PHASE_").lower() if last.message.step else "",
        step=last.message.step,
        start=first.time,
        seconds=seconds if is_whole else None,
        tries=sum(event.message.state in _BEGINS for event in events),
        last=last,
    )
