"""What the demo observed, and what of it was not as it should be: noted, written down, and shown in a few lines.

Its account also says what an earlier demo wrote, which is taken away before the next one; nothing that a
person put into the same folder is.
"""

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ACCOUNT = "demo.json"
LOGS = "logs"
_FOLDER_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(slots=True)
class Findings:
    """Observations by name, and sentences on what was not as told."""

    observed: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def note(self, name: str, value: Any) -> None:
        """Keep an observation."""
        self.observed[name] = value

    def expect(self, holds: bool, otherwise: str) -> None:  # noqa: FBT001  # it reads as a sentence
        """Keep a sentence when something does not hold."""
        if not holds:
            self.wrong.append(otherwise)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**self.observed, "not_as_told": self.wrong}, indent=2) + "\n")


def show_summary(screen: Console, findings: Findings) -> None:
    """Show a line for each act that came to its end, so that a reader need not scroll."""
    table = Table.grid(padding=(0, 2))
    for name, text in _lines(findings.observed):
        table.add_row(f"  {name}", text)
    screen.print(table)


def _lines(observed: dict[str, Any]) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    if entries := observed.get("entries"):
        statuses = [entry["status"] for entry in entries]
        machines = len({entry["machine"] for entry in entries})
        text = f"{machines}, with {statuses.count('rendered')} user data; refused by field: {statuses.count('refused')}"
        lines.append(("machines", text))
    if verdicts := observed.get("explain_verdicts"):
        lines.append(("dry run", f"fields are {', '.join(verdicts)}"))
    if refusal := observed.get("refusal"):
        lines.append(("refusal", f"{refusal['reason']} at {', '.join(refusal['fields'])}"))
    if failover := observed.get("failover"):
        requests = sum(failover["by_instance"])
        lines.append(("failover", f"{requests} requests answered, {len(failover['failed'])} failed"))
    if count := observed.get("bundle_lines"):
        lines.append(("bundle", f"{count} lines, without its secrets"))
    if read := observed.get("read"):
        accepted, total = (sum(counts[key] for counts in read.values()) for key in ("taken", "given"))
        lines.append(("read", f"{accepted} of {total} user data, by the programs of the machines"))
    return lines


def take_away(out: Path) -> None:
    """Remove the machines that the account of an earlier demo names, its logs and the account."""
    for machine in _machines(out / ACCOUNT):
        shutil.rmtree(out / machine, ignore_errors=True)
    shutil.rmtree(out / LOGS, ignore_errors=True)
    (out / ACCOUNT).unlink(missing_ok=True)


def _machines(account: Path) -> set[str]:
    try:
        entries = json.loads(account.read_text(encoding="utf-8"))["entries"]
        names = {str(entry["machine"]) for entry in entries}
    except (OSError, ValueError, TypeError, KeyError):
        return set()
    return {name for name in names if _FOLDER_NAME.fullmatch(name)}
