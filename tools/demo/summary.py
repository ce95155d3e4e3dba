"""The last lines of the demo: the result of each act in a line, so that a reader need not scroll."""

from typing import Any

from rich.console import Console
from rich.table import Table

from tools.demo.findings import Findings


def show_summary(screen: Console, findings: Findings) -> None:
    """Show a line for each act that came to its end."""
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
