"""slipway diagnose."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.text import Text

from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, note, say, show
from slipway.diagnosis.bootstrap_events import events_of
from slipway.diagnosis.diagnosis import Diagnosis, Finding, Outcome
from slipway.diagnosis.diagnosis import diagnose as diagnosed
from slipway.diagnosis.diagnosis_tree import diagnosis_tree
from slipway.diagnosis.log_files import LARGEST, Log, LogError, logs_of
from slipway.diagnosis.scrubbing import scrubbed
from slipway.diagnosis.timeline import timelines
from slipway.diagnosis.timeline_words import timeline_lines

_MOST_BOOTSTRAPS = 5


@click.command("diagnose", short_help="Find in logs why a machine did not become a node.")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...|-",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
)  # fmt: skip
@click.option("--separate", is_flag=True, help="Each FILE is of a machine of its own.")
@click.option("--bundle-id", default="", metavar="ID", help="Count only the events of this bundle.")
@output_option()
@reported
def diagnose(files: tuple[Path, ...], separate: bool, bundle_id: str, output: str) -> None:  # noqa: FBT001  # click gives options by name
    """Find in logs why a machine did not become a node: the reason, the line that shows it, and a remedy.

    FILE is any log, console dump, or log bundle (tar, gzip) of any cluster, with or without Slipway; - is standard
    input. Several files are read as logs of one machine, unless --separate is given. The cause is first. Problems that
    ended before the machine joined are not reported, and effects are reported only where no cause is found. Words that
    many programs write count only with a failure behind them; without one they are candidates, and no answer. Where no
    reason is known, the outcome is Unknown, with the candidates and the last lines that look like errors. Secrets are
    removed from the lines shown. Nothing is sent anywhere.

    Events that Slipway wrote on the machine are shown as a timeline of its steps, with the one that failed. Any program
    can write such a line to a console: with --bundle-id only events of that bundle count.

    \b
    Examples:
      slipway diagnose /var/log/cloud-init-output.log
      journalctl -b | slipway diagnose -
      slipway diagnose logs.tar.gz -o json
      slipway diagnose --separate console-*.log

    \b
    Exit codes:
      0  the logs were read; whether a reason was found, the output says
      1  a file is damaged, too large, or of a kind that is not supported
      2  usage error, or there is no such file
    """  # noqa: D301  # click's mark for lines that stay
    machines = [(path,) for path in files] if separate else [files]
    trees: list[dict[str, Any]] = []
    for paths in machines:
        logs = _logs(paths)
        diagnosis = diagnosed(logs)
        bootstraps = timelines(events_of(logs, bundle_id=bundle_id))
        trees.append(diagnosis_tree(logs, diagnosis, bootstraps))
        if output == "table":
            if separate:
                show(Text(_name(paths[0]), style="bold"))
            _show(len(logs), diagnosis)
            say(*(line for timeline in bootstraps[:_MOST_BOOTSTRAPS] for line in timeline_lines(timeline)))
            if len(bootstraps) > _MOST_BOOTSTRAPS:
                note(f"{len(bootstraps)} bundles have events; name that of the machine: --bundle-id", "note")
    if output != "table":
        named = [{"machine": _name(path), **tree} for path, tree in zip(files, trees, strict=False)]
        emit({"machines": named} if separate else trees[0], output)


class _Unreadable(click.ClickException):
    """A file that cannot be diagnosed; exit code 1."""

    def show(self, file: Any = None) -> None:
        """Report it as all commands report a failure."""
        del file
        note(self.message, "failed")


def _name(path: Path) -> str:
    return "stdin" if str(path) == "-" else path.name


def _logs(paths: Sequence[Path]) -> list[Log]:
    try:
        logs = [log for path in paths for log in logs_of(_name(path), _content(path))]
    except LogError as error:
        raise _Unreadable(str(error)) from None
    for log in logs:
        if log.text is None:
            note(f"{scrubbed(log.name)}: is no text, and was not read", "note")
    return logs


def _content(path: Path) -> bytes:
    """Give a file's bytes, one more than is allowed at most: then it is refused."""
    try:
        with click.open_file(str(path), "rb") as stream:
            content: bytes = stream.read(LARGEST + 1)
    except OSError as error:
        raise click.UsageError(
            f"{path}: {error.strerror or type(error).__name__}; name a log, or - for a pipe"
        ) from None
    return content


def _show(logs: int, diagnosis: Diagnosis) -> None:
    count = f"{logs} {'log' if logs == 1 else 'logs'}"
    for finding in diagnosis.findings:
        _show_finding(finding)
    if diagnosis.outcome == Outcome.JOINED:
        say(f"Joined: the machine became a node, and no known reason remains in {count}")
    elif diagnosis.outcome == Outcome.UNKNOWN:
        say(f"Unknown: no known reason in {count}")
    _show_candidates(diagnosis.candidates)
    if diagnosis.outcome == Outcome.UNKNOWN:
        if diagnosis.suspects:
            say("  the last lines that look like errors:")
        say(*(f"  {suspect.source}:{suspect.line}: {suspect.text}" for suspect in diagnosis.suspects))


def _show_candidates(candidates: Sequence[Finding]) -> None:
    if candidates:
        say("  it may be one of these; the evidence is weak:")
    for candidate in candidates:
        say(f"  {candidate.rule.reason}: {candidate.source}:{candidate.line}: {candidate.evidence}")


def _show_finding(finding: Finding) -> None:
    show(Text(finding.rule.reason, style="bold red"))
    say(
        f"  evidence    {finding.source}:{finding.line}: {finding.evidence}",
        f"  means       {finding.rule.explanation}",
        f"  what to do  {finding.rule.remedy}",
        f"  more        {finding.rule.docs}",
    )
