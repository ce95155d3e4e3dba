"""What the page of one machine shows: its phases and steps, by each source."""

from collections.abc import Iterator
from dataclasses import dataclass

from slipway.diagnosis.bootstrap_events import Event
from slipway.diagnosis.timeline import StepRun, Timeline, phase_seconds, step_runs, timelines
from slipway.diagnosis.timeline_words import MOST, notes_of, outcome_of
from slipway.reports.presentation import source_of, state_of_source
from slipway.v1alpha1 import report_service_pb2 as reportspb


@dataclass(frozen=True, slots=True)
class Step:
    """A run of a step.

    Attributes:
        run: the run itself.
        notes: what is worth a note about it.
        is_failing: whether it is what the bootstrap failed in.
    """

    run: StepRun
    notes: str
    is_failing: bool


@dataclass(frozen=True, slots=True)
class SourceTimeline:
    """The timeline that a source reports.

    Attributes:
        source: where it is from.
        state: how far the bootstrap came.
        outcome: the same in words.
        hostname: of the machine, as it says itself.
        phases: seconds of each phase.
        steps: the runs of steps, the last ones.
        hidden: number of the runs before them.
    """

    source: str
    state: str
    outcome: str
    hostname: str
    phases: list[tuple[str, float]]
    steps: list[Step]
    hidden: int


def source_timelines(report: reportspb.Report) -> Iterator[SourceTimeline]:
    """Give the timeline of each source of a report with events; what counts is first."""
    for part in report.sources:
        for timeline in timelines([Event(event, "", 0) for event in part.events]):
            runs = step_runs(timeline)
            yield SourceTimeline(
                source=source_of(part),
                state=state_of_source(part),
                outcome=outcome_of(timeline),
                hostname=timeline.hostname,
                phases=list(phase_seconds(timeline).items()),
                steps=[_step(run, timeline) for run in runs[-MOST:]],
                hidden=max(len(runs) - MOST, 0),
            )


def _step(run: StepRun, timeline: Timeline) -> Step:
    return Step(run, notes_of(run), is_failing=run.last is timeline.failing)
