"""How many Cluster API templates import: `python -m tools.compatibility FOLDER > docs/reference/compatibility.md`.

FOLDER has a folder OWNER/NAME for each repository, with its templates as files, one complete cluster in each. They are
never kept here: the page names them, and says what `slipway render --set-missing` makes of them, each machine in the
format that its config was written for.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from slipway.cli.command_line import cli

_CRASHED = "internal error"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one template.

    Attributes:
        repository: OWNER/NAME.
        template: path in the repository, with `__` for each slash.
        machines: that were rendered, all of one set counted as one.
        refusals: why others were not, one line each; the template's own words are left out.
    """

    repository: str
    template: str
    machines: int
    refusals: tuple[str, ...]

    @property
    def path(self) -> str:
        """The template's path in its repository."""
        return self.template.replace("__", "/")

    @property
    def crashed(self) -> bool:
        """Whether Slipway itself failed."""
        return any(line.startswith(_CRASHED) for line in self.refusals)


def render(folder: Path, file: Path) -> Outcome:
    """Render every machine of a template."""
    run = CliRunner().invoke(cli, ["render", "-f", str(file), "--set-missing", "--summary", "json"])
    entries = json.loads(run.stdout) if run.stdout else []
    rendered = [entry for entry in entries if entry["status"] == "rendered"]
    refusals = list(_refusals(entries) if entries else _problems(run.stderr, file))
    if run.exit_code and not refusals:
        refusals = [f"{_CRASHED}: exit code {run.exit_code}"]
    repository = file.relative_to(folder).parent.as_posix()
    return Outcome(repository, file.name, len(rendered), tuple(dict.fromkeys(refusals)))


def _refusals(entries: Sequence[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        if entry["status"] != "rendered":
            yield from (f"{refusal['field']}: {refusal['reason']}" for refusal in entry["refusals"])


def _problems(text: str, file: Path) -> Iterator[str]:
    """Give the lines that are no remarks, without the name of the file."""
    for line in text.splitlines():
        if not line.startswith(("note: ", "warning: ")):
            yield line.removeprefix("error: ").replace(f"{file}:", "line ")


def render_all(folder: Path) -> list[Outcome]:
    """Render all templates, by repository and name."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in {".yaml", ".yml"})
    with ProcessPoolExecutor() as pool:
        return list(pool.map(render, [folder] * len(files), files, chunksize=8))


def page(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Give the lines of the tables: repositories, what is refused, and what was tried."""
    by_repository = {name: list(group) for name, group in groupby(outcomes, lambda outcome: outcome.repository)}
    whole = [outcome for outcome in outcomes if not outcome.refusals]
    yield (
        f"{len(outcomes)} templates of {len(by_repository)} repositories: {len(whole)} rendered whole, with "
        f"{sum(outcome.machines for outcome in outcomes)} machines; {len(outcomes) - len(whole)} refused; "
        f"{sum(outcome.crashed for outcome in outcomes)} failures of Slipway itself."
    )
    yield from ("", "| Repository | Templates | Whole | Machines |", "| --- | --- | --- | --- |")
    for name, group in by_repository.items():
        rendered = sum(not outcome.refusals for outcome in group)
        yield f"| {name} | {len(group)} | {rendered} | {sum(outcome.machines for outcome in group)} |"
    yield from ("", "## What is refused", "", "| Template | Why |", "| --- | --- |")
    for outcome in outcomes:
        if outcome.refusals:
            more = f" (and {len(outcome.refusals) - 1} more)" if len(outcome.refusals) > 1 else ""
            yield f"| {outcome.repository}: `{outcome.path}` | {_cell(outcome.refusals[0])}{more} |"
    yield from ("", "## What was tried", "")
    yield "Each with the number of its machines; both machines of a control plane count, and a pool is one."
    for name, group in by_repository.items():
        yield from ("", f"### {name}", "")
        yield from (f"- `{outcome.path}`: {outcome.machines}" for outcome in group)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    print("\n".join(page(render_all(Path(sys.argv[1])))))
