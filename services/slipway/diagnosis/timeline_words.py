"""The words and the lines for a timeline: the same on the command line and on the web page."""

from collections.abc import Iterator

from slipway.diagnosis.timeline import Progress, StepRun, Timeline, step_runs
from slipway.v1alpha1 import report_pb2 as reportpb

MOST = 200
"""Runs of steps that are shown of one timeline; a bootstrap has some ten steps."""


def outcome_of(timeline: Timeline) -> str:
    """Give the outcome of the bootstrap, or how far it came."""
    if timeline.failing is not None:
        message = timeline.failing.message
        return f"failed in step {message.step}: {message.reason or 'CommandFailed'}, exit code {message.exit_code}"
    if timeline.progress == Progress.COMPLETE:
        return "complete"
    message = timeline.events[-1].message
    if message.state == reportpb.EVENT_STATE_REBOOTING:
        return f"unfinished; the machine rebooted behind step {message.step}"
    if message.state in {reportpb.EVENT_STATE_STARTED, reportpb.EVENT_STATE_RETRYING}:
        return f"unfinished; step {message.step} has not ended"
    return f"unfinished; the last event is of step {message.step}"


def notes_of(run: StepRun) -> str:
    """Give what is worth a note about a run of a step: several tries, an exit code, a reason."""
    message = run.last.message
    notes = [
        f"{run.tries} tries" if run.tries > 1 else "",
        f"exit code {message.exit_code}" if message.exit_code else "",
        message.reason,
    ]
    return ", ".join(note for note in notes if note)


def timeline_lines(timeline: Timeline) -> Iterator[str]:
    """Give the lines: what came of the bootstrap, and a line for each run of a step."""
    host = f" of {timeline.hostname}" if timeline.hostname else ""
    yield f"Bootstrap {timeline.bundle_id}{host}: {outcome_of(timeline)}"
    runs = step_runs(timeline)
    if len(runs) > MOST:
        yield f"  {len(runs) - MOST} earlier lines are left out"
    shown = runs[-MOST:]
    widths = [max(len(getattr(run, name)) for run in shown) for name in ("phase", "step", "state")]
    for run in shown:
        yield "  " + "  ".join(_cells(run, widths)).rstrip()


def _cells(run: StepRun, widths: list[int]) -> Iterator[str]:
    yield run.start.strftime("%Y-%m-%d %H:%M:%SZ")
    for text, width in zip((run.phase, run.step, run.state), widths, strict=True):
        yield text.ljust(width)
    yield f"{run.seconds:4.0f} s" if run.seconds is not None else " " * 6
    yield notes_of(run)
