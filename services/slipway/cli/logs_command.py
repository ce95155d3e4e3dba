"""slipway logs."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.output import note, say
from slipway.cli.report_client import ReportClient, Server, report_options, server_from
from slipway.contract.errors import ReportNotFound
from slipway.diagnosis.log_files import Log, LogError, logs_of
from slipway.diagnosis.printing import printable


@click.command("logs", short_help="Show the logs that a machine sent.")
@click.argument("machine", metavar="MACHINE")
@report_options
@click.option("--file", "name", default="", metavar="NAME", help="Only this file of the bundle.")
@click.option("--list", "only_names", is_flag=True, help="Print the names of the files only.")
@click.option(
    "--save", default=None, type=click.Path(path_type=Path, dir_okay=False), help="Write the bundle (tar, gzip) there."
)
@reported
def logs(*, machine: str, name: str, only_names: bool, save: Path | None, **values: Any) -> None:
    """Show the last log bundle that a machine sent, without secrets: each file behind a line with its name.

    Secrets were removed by the machine, and by patterns again before the bundle was kept.

    \b
    Examples:
      slipway logs worker-1 --server gateway:9444 --tls-cert-dir certs
      slipway logs worker-1 --server 127.0.0.1:9444 --insecure --save logs.tar.gz
      slipway diagnose logs.tar.gz

    \b
    Exit codes:
      0  the logs were shown, or written
      1  there is no log bundle of MACHINE, or no such file in it, or the server does not answer
      2  usage error, or several clusters have a machine of this name
    """  # noqa: D301  # click's mark for lines that stay
    data = asyncio.run(_bundle(server_from(values), machine))
    if save is not None:
        save.write_bytes(data)
        return
    try:
        members = logs_of(machine, data)
    except LogError as error:
        note(str(error), "failed")
        sys.exit(FAILED)
    chosen = [member for member in members if name in ("", member.name)]
    if not chosen:
        note(f"there is no file {name} in the bundle; --list prints their names")
        sys.exit(FAILED)
    for member in chosen:
        _show(member, with_name=not name, with_text=not only_names)


def _show(member: Log, *, with_name: bool, with_text: bool) -> None:
    if not with_text:
        say(member.name)
        return
    if with_name:
        say(f"==> {member.name} <==")
    say(*(printable(line) for line in (member.text or "").splitlines()))


async def _bundle(server: Server, machine: str) -> bytes:
    client = ReportClient(server)
    try:
        reports = await client.reports(machine=machine)
        if not reports:
            raise ReportNotFound(f"there is no report of {machine}")
        if len(reports) > 1:
            clusters = ", ".join(report.machine.cluster for report in reports)
            raise click.UsageError(f"several clusters have a machine of this name: give --cluster, one of {clusters}")
        return await client.log_bundle(reports[0].machine)
    finally:
        await client.close()
