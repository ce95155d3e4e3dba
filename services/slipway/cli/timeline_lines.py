"""The timeline of a bootstrap as `slipway diagnose` prints it."""

from collections.abc import Iterator

from slipway.diagnosis.timeline import StepRun, Timeline, step_runs
from slipway.diagnosis.timeline_words import MOST, notes_of, outcome_of


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
