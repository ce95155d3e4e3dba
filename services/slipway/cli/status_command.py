"""slipway status."""

import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, note, say, show, table
from slipway.cli.remote import ServerUnreachableError
from slipway.cli.report_client import ReportClient, Server, optional_report_options, server_from
from slipway.cli.status_sources import Bootstrapped, bootstraps, reports_of_files
from slipway.contract.errors import Draining
from slipway.diagnosis.bootstrap_events import Event
from slipway.diagnosis.timeline import timelines
from slipway.diagnosis.timeline_words import timeline_lines
from slipway.reports.presentation import COLUMNS, STATES, Row, age, phase_of, source_of, state_of, state_of_source
from slipway.v1alpha1 import report_service_pb2 as reportspb

_AGAIN_SECONDS = 1.0


@click.command("status", short_help="Show what machines reported about their bootstrap.")
@click.argument("machine", required=False, default="", metavar="[MACHINE]")
@click.option(
    "-f",
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Show what is in a file of events, the text of a console, or a log bundle; no server is asked.",
)
@click.option(
    "--kubeconfig",
    default=None,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Show the condition BootstrapSucceeded of SlipwayConfigs in a management cluster; no server is asked.",
)
@optional_report_options
@click.option("--state", default=None, type=click.Choice(sorted(STATES)), help="Only machines in this state.")
@click.option("-w", "--watch", is_flag=True, help="Go on with a line for each report that changes.")
@output_option()
@reported
def status(  # noqa: PLR0913  # the options of a command
    *,
    machine: str,
    files: tuple[Path, ...],
    kubeconfig: Path | None,
    state: str | None,
    watch: bool,
    output: str,
    **values: Any,
) -> None:
    """Show what machines reported about their bootstrap: a table of all, or the timeline of one.

    The reports are those of a node gateway, which machines send or an infrastructure provider reads out of their
    consoles. They are hints: a Node that joined is right whatever its machine reported. Without a gateway, -f reads
    files of a machine, and --kubeconfig what the controller wrote into the management cluster.

    \b
    Examples:
      slipway status --server gateway:9444 --tls-cert-dir certs
      slipway status --server 127.0.0.1:9444 --insecure --state failed
      slipway status worker-1 --server gateway:9444 --tls-cert-dir certs --token-file token
      slipway status --server gateway:9444 --tls-cert-dir certs --watch
      slipway status --kubeconfig ~/.kube/config --state failed
      slipway status -f events.jsonl -f console.log

    \b
    Exit codes:
      0  the reports were shown
      1  there is no report of MACHINE, or the server does not answer
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    if files or kubeconfig is not None:
        _check_alone(files, kubeconfig, watch=watch)
        if kubeconfig is not None:
            rows = asyncio.run(bootstraps(kubeconfig, values["namespace"], values["cluster"]))
            _show_bootstraps(rows, machine=machine, state=state or "", output=output)
        else:
            _show_files(reports_of_files(files), machine=machine, state=state or "", output=output)
        return
    server = server_from(values)
    if watch:
        if output == "yaml":
            raise click.UsageError("--watch prints a table, or a line of JSON for each report")
        asyncio.run(_watch(server, machine=machine, state=state or "", output=output))
    elif machine:
        _show_machine(asyncio.run(_reports_of(server, machine)), machine, output)
    else:
        reports = asyncio.run(_reports(server, state or ""))
        if output == "table":
            show(table("", COLUMNS, _rows(reports)))
        else:
            emit([tree(report) for report in reports], output)


def _check_alone(files: Sequence[Path], kubeconfig: Path | None, *, watch: bool) -> None:
    # A server that the environment names is not asked, one that the person names would be left out silently.
    source = click.get_current_context().get_parameter_source("server")
    named = source == click.core.ParameterSource.COMMANDLINE
    if (bool(files), kubeconfig is not None, named).count(True) > 1:
        raise click.UsageError("give one of --server, --kubeconfig and -f")
    if watch:
        raise click.UsageError("--watch is for --server; see kubectl get slipwayconfigs --watch")


def _show_files(reports: list[reportspb.Report], *, machine: str, state: str, output: str) -> None:
    chosen = [report for report in reports if machine in ("", report.machine.name) and state in ("", state_of(report))]
    if not chosen:
        note("there is no such event in it" if machine or state else "there is no event in it")
        sys.exit(FAILED)
    if output == "table":
        _show_machine(chosen, machine, output)
    else:
        emit([tree(report) for report in chosen], output)


def _show_bootstraps(rows: list[Bootstrapped], *, machine: str, state: str, output: str) -> None:
    chosen = [row for row in rows if machine in ("", row.machine) and state in ("", row.state)]
    if machine and not chosen and not state:
        note(f"there is no SlipwayConfig of {machine}")
        sys.exit(FAILED)
    if output != "table":
        emit([_bootstrap_tree(row) for row in chosen], output)
        return
    now = datetime.now(UTC)
    cells = [
        [row.cluster, row.machine, row.state, row.reason, age(now, row.time) if row.time else "", row.message]
        for row in chosen
    ]
    show(table("", ("cluster", "machine", "state", "reason", "age", "message"), cells))


def _bootstrap_tree(row: Bootstrapped) -> dict[str, Any]:
    return {
        "namespace": row.namespace,
        "cluster": row.cluster,
        "machine": row.machine,
        "bundleId": row.bundle_id,
        "state": row.state,
        "reason": row.reason,
        "message": row.message,
        "time": row.time.isoformat() if row.time else "",
    }


async def _reports(server: Server, state: str) -> list[reportspb.Report]:
    client = ReportClient(server)
    try:
        return await client.reports(state=STATES.get(state, 0))
    finally:
        await client.close()


async def _reports_of(server: Server, machine: str) -> list[reportspb.Report]:
    client = ReportClient(server)
    try:
        return [await client.report(report.machine) for report in await client.reports(machine=machine)]
    finally:
        await client.close()


async def _watch(server: Server, *, machine: str, state: str, output: str) -> None:
    client = ReportClient(server)
    seen: dict[str, bytes] = {}
    if output == "table":
        say("  ".join(COLUMNS))
    try:
        while True:
            try:
                async for message in client.changes():
                    _print_changes(message, seen, machine=machine, state=state, output=output)
            except (ServerUnreachableError, Draining) as error:
                if not seen:
                    raise
                note(str(error), "note")
            # A server ends streams at times, and another replica goes on.
            await asyncio.sleep(_AGAIN_SECONDS)
    finally:
        await client.close()


def _print_changes(
    message: reportspb.WatchReportsResponse, seen: dict[str, bytes], *, machine: str, state: str, output: str
) -> None:
    for report in message.reports:
        place = f"{report.machine.cluster}/{report.machine.name}"
        content = report.SerializeToString(deterministic=True)
        if seen.get(place) == content:
            continue
        seen[place] = content
        if machine in ("", report.machine.name) and state in ("", state_of(report)):
            (cells,) = _rows([report])
            say(json.dumps(tree(report)) if output == "json" else "  ".join(cell or "-" for cell in cells))
    for gone in message.deleted:
        seen.pop(f"{gone.cluster}/{gone.name}", None)


def _show_machine(reports: list[reportspb.Report], machine: str, output: str) -> None:
    if not reports:
        note(f"there is no report of {machine}")
        sys.exit(FAILED)
    if output != "table":
        emit([tree(report) for report in reports], output)
        return
    show(table("", COLUMNS, _rows(reports)))
    for report in reports:
        say(*_timelines(report))


def _timelines(report: reportspb.Report) -> Iterator[str]:
    for part in report.sources:
        yield f"{'/'.join(filter(None, (report.machine.cluster, report.machine.name)))}, {source_of(part)}:"
        for timeline in timelines([Event(event, "", 0) for event in part.events]):
            yield from timeline_lines(timeline)


def tree(report: reportspb.Report) -> dict[str, Any]:
    """Give a report as plain data."""
    return {
        "namespace": report.machine.namespace,
        "cluster": report.machine.cluster,
        "machine": report.machine.name,
        "bundleId": report.bundle_id,
        "state": state_of(report),
        "receiveTime": report.receive_time.ToJsonString(),
        "sources": [
            {
                "source": source_of(part),
                "state": state_of_source(part),
                "phase": phase_of(part),
                "step": part.step,
                "exitCode": part.exit_code,
                "reason": part.reason,
                "receiveTime": part.receive_time.ToJsonString(),
            }
            for part in report.sources
        ],
        "logBundleBytes": report.log_bundle.bytes,
    }


def _rows(reports: Sequence[reportspb.Report]) -> list[list[str]]:
    now = datetime.now(UTC)
    return [Row.of(report).cells(now) for report in reports]
