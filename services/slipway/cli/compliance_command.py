"""slipway compliance."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from slipway.cli.compliance_junit import as_junit
from slipway.cli.compliance_results import RESULTS, MachineResults, Result, counts, noteworthy, results_of
from slipway.cli.evidence import Evidence, absence_of, evidence_of
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, note, say, show, table
from slipway.cli.report_client import ReportClient, Server, optional_report_options, server_from
from slipway.contract.errors import SlipwayError
from slipway.diagnosis.log_files import LARGEST, LogError

_HINT = (
    "a machine sends its evidence by machineadm alone; from a machine without it, "
    "copy /var/lib/slipway/evidence.json, and name the file by -f"
)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.group("compliance")
def compliance() -> None:
    """The controls of benchmarks on machines, by what the machines observed of themselves."""


@compliance.command("report", short_help="Show which controls machines meet.")
@click.argument("machine", required=False, default="", metavar="[MACHINE]")
@click.option(
    "-f", "--file", "files", multiple=True, type=_FILE, metavar="FILE",
    help="Read evidence.json of a machine, or its log bundle; no server is asked.",
)  # fmt: skip
@click.option(
    "--before", "earlier", multiple=True, type=_FILE, metavar="FILE",
    help="Earlier evidence of the same machines: show what has changed since.",
)  # fmt: skip
@optional_report_options
@click.option(
    "--allow-no-evidence", "lenient", is_flag=True,
    help="List machines without evidence, and do not fail for them: those that have no profiles.",
)  # fmt: skip
@click.option("--all", "every", is_flag=True, help="List the controls that are met, too.")
@click.option("--junit", default=None, type=_FILE, metavar="FILE", help="Write the results there as JUnit XML, too.")
@output_option()
@reported
def report(  # noqa: PLR0913  # the options of a command
    *,
    machine: str,
    files: tuple[Path, ...],
    earlier: tuple[Path, ...],
    lenient: bool,
    every: bool,
    junit: Path | None,
    output: str,
    **values: Any,
) -> None:
    """Show which controls of their profiles machines meet, with waivers, and what has changed.

    The evidence is what the machine wrote after its bootstrap: the file, or the log bundle that holds it. It is a hint
    about the machine, as its other reports are: who controls a machine controls what it says. A machine that a server
    knows, and whose evidence it does not have, is listed with the reason and counts as a failure.

    \b
    Results:
      pass            the machine meets the control
      fail            it does not, or its waiver has ended
      waived          it does not, and the spec says why that is allowed
      missing         the evidence has nothing of the control, or its profile is not known
      manual          the control is for people
      not-applicable  what it is about is not on this machine

    \b
    Reasons of a machine without evidence:
      EVIDENCE_NOT_SENT       its bootstrap is complete, and it has sent none
      BOOTSTRAP_NOT_COMPLETE  its bootstrap has failed, or its end was not reported
      EVIDENCE_NOT_READABLE   what it has sent is damaged, or of another version

    \b
    Examples:
      slipway compliance report -f evidence.json
      slipway compliance report -f logs.tar.gz --before evidence-of-may.json
      slipway compliance report --server gateway:9444 --tls-cert-dir certs --junit controls.xml

    \b
    Exit codes:
      0  no control fails
      1  a control fails or is missing, or a machine has no evidence
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    now = datetime.now(UTC)
    if files:
        collected = [MachineResults(entry.hostname, entry) for entry in _of_files(files)]
        collected = [entry for entry in collected if machine in ("", entry.name)]
    else:
        collected = asyncio.run(_of_server(server_from(values), machine))
    before = {entry.hostname: entry for entry in _of_files(earlier)}
    machines = [_judged(entry, now, before) for entry in collected]
    evident = any(entry.evidence for entry in machines)
    if not evident:
        note("there is no evidence of such a machine" if machine else "there is no evidence")
    _print(machines, output, every=every)
    if junit is not None:
        junit.write_bytes(as_junit(machines))
    absent = any(entry.absence for entry in machines)
    if absent:
        note(_HINT)
    if not evident or any(entry.is_bad for entry in machines) or (absent and not lenient):
        sys.exit(FAILED)


def _judged(machine: MachineResults, now: datetime, before: Mapping[str, Evidence]) -> MachineResults:
    if machine.evidence is None:
        return machine
    return replace(machine, results=results_of(machine.evidence, now=now, before=before.get(machine.name)))


def _print(machines: Sequence[MachineResults], output: str, *, every: bool) -> None:
    if output == "table":
        for machine in machines:
            _show(machine, every=every)
    else:
        emit([_tree(machine) for machine in machines], output)


def _tree(machine: MachineResults) -> dict[str, Any]:
    evidence, results = machine.evidence, machine.results
    if evidence is None:
        return {"machine": machine.name, **(asdict(machine.absence) if machine.absence else {})}
    return {
        "machine": machine.name,
        "bundleId": evidence.bundle_id,
        "time": evidence.time.isoformat(),
        "role": evidence.role.removeprefix("ROLE_").lower().replace("_", "-"),
        "profiles": list(evidence.profiles),
        "counts": dict(counts(results)),
        "controls": [asdict(result) for result in results],
    }


def _show(machine: MachineResults, *, every: bool) -> None:
    evidence, results = machine.evidence, machine.results
    if evidence is None:
        if machine.absence:
            say(f"{machine.name}: {machine.absence.reason}: {machine.absence.message}")
        return
    number = counts(results)
    summary = ", ".join(f"{number[word]} {word}" for word in RESULTS if number[word])
    say(f"{machine.name} ({', '.join(evidence.profiles)}), {evidence.time:%Y-%m-%d %H:%M} UTC: {summary}")
    rows = [_row(result) for result in (results if every else noteworthy(results))]
    if rows:
        show(table("", ["result", "control", "title", "observed"], rows))


def _row(result: Result) -> list[str]:
    word = f"{result.result} (was {result.before})" if result.before else result.result
    return [word, result.control, result.title, "; ".join(filter(None, (result.observed, result.note)))]


def _of_files(paths: Sequence[Path]) -> list[Evidence]:
    collected: list[Evidence] = []
    for path in paths:
        try:
            with path.open("rb") as file:
                collected += evidence_of(path.name, file.read(LARGEST + 1))
        except OSError as error:
            raise click.ClickException(f"{path}: {error.strerror}") from None
        except LogError as error:
            raise click.ClickException(str(error)) from None
    return collected


async def _of_server(server: Server, machine: str) -> list[MachineResults]:
    """Give the evidence of the machines that a server knows, or why it has none."""
    client = ReportClient(server)
    collected: list[MachineResults] = []
    try:
        for entry in await client.reports(machine=machine):
            name = f"{entry.machine.cluster}/{entry.machine.name}"
            try:
                evidence = evidence_of(name, await client.log_bundle(entry.machine))
            except (SlipwayError, LogError) as error:
                collected.append(MachineResults(name, absence=absence_of(entry, name, error)))
                continue
            # The server knows the Machine's name; a host may be called otherwise.
            collected.append(MachineResults(name, evidence[0]))
    finally:
        await client.close()
    return collected
