"""slipway render."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from slipway.cli.connecting import connected
from slipway.cli.entry_table import entry_table
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.loading import Loaded, load
from slipway.cli.options import Connection, connection_from, connection_options, input_options, inputs_from
from slipway.cli.output import OUTPUTS, console, emit, note, say_bytes, show
from slipway.cli.output_folder import OutputFolder
from slipway.cli.remarks import note_entries, note_files
from slipway.cli.rendering import ALL, Entry, Rendered, ask, complete, wishes

STDOUT = "-"


@click.command("render", short_help="Make the first-boot user data of every machine.")
@input_options
@click.option("--provisioner", default="", metavar="NAME|all", help="This provisioner in place of the spec's; or all.")
@click.option(
    "--format", "format_id", default="", metavar="FORMAT|all", help="This format in place of the spec's; or all."
)
@click.option(
    "-o", "--output", default="", metavar="DIR|-", type=click.Path(file_okay=False, allow_dash=True),
    help="Write files to DIR, or one user data to standard output. Without it nothing is written: a dry run.",
)  # fmt: skip
@click.option(
    "--summary", type=click.Choice(OUTPUTS), default="table", show_default=True, help="How to print the summary.",
)  # fmt: skip
@connection_options
@reported
def render(provisioner: str, format_id: str, output: str, summary: str, **values: Any) -> None:
    """Make the first-boot user data of every machine in the files.

    Each KubeadmControlPlane yields its first and a joining machine, each pool one worker, a SlipwayCluster the machines
    that it lists. With -o DIR the files go to DIR/MACHINE/PROVISIONER.EXT, attachments beside them, all readable by you
    alone; DIR/summary.json has the result of each machine. User data holds keys and tokens: protect it. With
    delivery.mode Fetch, PROVISIONER.EXT is a stub; the user data is in DIR/MACHINE/payload, for you to store.

    The summary has the id of each machine's bundle: events on its console and its reports carry the same id.

    Machines of one cluster that are rendered in several calls agree on its authorities only with --credentials DIR, and
    with it the same files give the same bytes again.

    \b
    Examples:
      slipway render -f cluster.yaml --set-missing
      slipway render -f cluster.yaml --set KUBERNETES_VERSION=v1.34.2 --provisioner all -o userdata
      slipway render -f spec.yaml --machine worker --provisioner ignition -o - > worker.ign
      slipway render -f spec.yaml --credentials secrets --format talos/v1.12 --summary json

    \b
    Exit codes:
      0  every machine got user data from at least one of the provisioners that were asked
      1  a machine got none, or a file is invalid
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    if output in OUTPUTS and not Path(output).is_dir():
        raise click.UsageError(f"-o names a folder here: give --summary {output} for the account, or -o ./{output}")
    loaded = load(inputs_from(values))
    note_files(loaded)
    results = asyncio.run(
        _render(loaded, connection_from(values), provisioner, format_id, accept_attachments=output != STDOUT)
    )
    entries = [result.entry for result in results]
    if output == STDOUT:
        _to_stdout(results)
    elif output:
        OutputFolder(Path(output)).write(results)
    if output != STDOUT and summary == "table":
        show(entry_table(entries, console()))
    elif output != STDOUT:
        emit([entry.tree() for entry in entries], summary)
    _note_payloads(entries)
    note_entries(loaded, entries)
    if not complete(entries):
        sys.exit(FAILED)


async def _render(
    loaded: Loaded, connection: Connection, provisioner: str, format_id: str, *, accept_attachments: bool
) -> list[Rendered]:
    async with connected(connection) as backend:
        everybody = ALL in {provisioner, format_id}
        instances = await (backend.provisioners() if everybody else backend.known_provisioners())
        asked = list(wishes(instances, provisioner, format_id))
        return [
            await ask(backend, question, name, wanted, instances=instances, accept_attachments=accept_attachments)
            for question in loaded.questions
            for name, wanted in asked
        ]


def _note_payloads(entries: list[Entry]) -> None:
    """Say what has to be stored before machines boot."""
    for entry in entries:
        if entry.payload_url:
            what = entry.payload_file or "the user data, which -o DIR writes,"
            note(f"{entry.machine} fetches its user data: store {what} so that {entry.payload_url} gives it", "note")


def _to_stdout(results: list[Rendered]) -> None:
    answers = [result.answer for result in results if result.answer is not None]
    if len(answers) > 1:
        raise click.UsageError(
            f"{len(answers)} user data do not fit on one standard output: choose --machine and --provisioner"
        )
    for answer in answers:
        if answer.encoding == "gzip":
            note(f"compressed ({answer.encoding}), since the infrastructure does not take it as it is", "note")
        for attachment in answer.attachments:
            note(f"{attachment.name} is left out: -o DIR writes it beside the user data", "note")
        say_bytes(answer.user_data)
