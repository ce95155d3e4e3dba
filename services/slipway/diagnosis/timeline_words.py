"""The words for a timeline: the same on the command line and on the web page."""

from slipway.diagnosis.timeline import Progress, StepRun, Timeline
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
