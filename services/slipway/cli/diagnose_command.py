"""slipway diagnose."""

from pathlib import Path
from typing import Any

import click
from rich.text import Text

from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, note, say, show
from slipway.diagnosis.diagnosis import Finding
from slipway.diagnosis.diagnosis import diagnose as diagnosed
from slipway.diagnosis.log_files import LARGEST, LogError, logs_of


@click.command("diagnose", short_help="Find in logs why a machine did not become a node.")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...|-",
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
)  # fmt: skip
@output_option()
@reported
def diagnose(files: tuple[Path, ...], output: str) -> None:
    """Find in logs why a machine did not become a node: the reason, the line that shows it, and a remedy.

    FILE is any log, console dump, or log bundle (tar, gzip) of any cluster, with or without Slipway; - is standard
    input. Several files are read as logs of one machine. The cause is first. Problems that ended before the
    machine joined are not reported, and effects are reported only where no cause is found. Secrets are removed from the
    lines shown. Nothing is sent anywhere.

    \b
    Examples:
      slipway diagnose /var/log/cloud-init-output.log
      journalctl -b | slipway diagnose -
      slipway diagnose logs.tar.gz -o json

    \b
    Exit codes:
      0  the logs were read; whether a reason was found, the output says
      1  a file is damaged, too large, or of a kind that is not supported
      2  usage error, or there is no such file
    """  # noqa: D301  # click's mark for lines that stay
    try:
        logs = [log for path in files for log in logs_of("stdin" if str(path) == "-" else path.name, _content(path))]
    except LogError as error:
        raise _Unreadable(str(error)) from None
    for log in logs:
        if log.text is None:
            note(f"{log.name}: is no text, and was not read", "note")
    findings = diagnosed(logs)
    if output != "table":
        emit({"logs": len(logs), "findings": [_tree(one) for one in findings]}, output)
    elif findings:
        _show(findings)
    else:
        say(f"no known reason in {len(logs)} {'log' if len(logs) == 1 else 'logs'}")


class _Unreadable(click.ClickException):
    """A file that cannot be diagnosed; exit code 1."""

    def show(self, file: Any = None) -> None:
        """Report it as all commands report a failure."""
        del file
        note(self.message, "failed")


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


def _tree(one: Finding) -> dict[str, Any]:
    rule = one.rule
    return {
        "reason": rule.reason,
        "rule": rule.id,
        "engine": rule.scope.engine,
        "phase": rule.scope.phase,
        "source": one.source,
        "line": one.line,
        "count": one.count,
        "evidence": one.evidence,
        "explanation": rule.explanation,
        "remedy": rule.remedy,
        "docs": rule.docs,
    }


def _show(findings: list[Finding]) -> None:
    for one in findings:
        show(Text(one.rule.reason, style="bold red"))
        say(
            f"  evidence    {one.source}:{one.line}: {one.evidence}",
            f"  means       {one.rule.explanation}",
            f"  what to do  {one.rule.remedy}",
            f"  more        {one.rule.docs}",
        )
