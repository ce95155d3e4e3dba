"""slipway size."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Any

import click

from bootstrapper.assembly.paths import describe
from bootstrapper.delivery.compression import compress
from bootstrapper.delivery.infrastructure import infrastructures
from bootstrapper.placeholders import user_placeholders
from services.cli.connecting import connected
from services.cli.exit_codes import FAILED
from services.cli.failures import reported
from services.cli.loading import Loaded, load
from services.cli.options import (
    Connection,
    connection_from,
    connection_options,
    input_options,
    inputs_from,
    output_option,
)
from services.cli.output import emit, show, table
from services.cli.remarks import note_error, note_files
from services.cli.rendering import ALL, wishes
from services.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

_NO_LIMIT = 1 << 20
_MOST_ITEMS = 12


@click.command("size", short_help="Show bytes by item, against every infrastructure's limit.")
@input_options
@click.option("--provisioner", default="", metavar="NAME|all", help="This provisioner in place of the spec's; or all.")
@output_option()
@connection_options
@reported
def size(provisioner: str, output: str, **values: Any) -> None:
    """Show how large the user data of every machine is, which items make it so, and where it fits.

    Embedded, placeholders of the same size stand for secrets and nothing is created. A server counts with the cluster's
    own secrets, which it creates when there are none.

    \b
    Examples:
      slipway size -f spec.yaml --provisioner cloud-init
      slipway size -f cluster.yaml --set-missing -o json

    \b
    Exit codes:
      0  the size of every machine was shown
      1  a machine is refused by all that were asked, or a file is invalid
      2  the command line is wrong
    """  # noqa: D301  # click's mark for lines that stay
    loaded = load(inputs_from(values))
    note_files(loaded)
    trees = asyncio.run(_sizes(loaded, connection_from(values), provisioner))
    if output == "table":
        for tree in trees:
            _show(tree)
    else:
        emit(trees, output)
    if {tree["machine"] for tree in trees} != {question.name for question in loaded.questions}:
        sys.exit(FAILED)


async def _sizes(loaded: Loaded, connection: Connection, provisioner: str) -> list[dict[str, Any]]:
    trees = []
    async with connected(connection, dry=True) as backend:
        instances = await (backend.provisioners() if provisioner == ALL else backend.known_provisioners())
        names = [name for name, _ in wishes(instances, provisioner, "")]
        for question in loaded.questions:
            for name in names:
                request = bootstrappb.GetUserDataRequest(
                    subject=question.subject,
                    credentials=user_placeholders(question.subject.spec),
                    accept_attachments=True,
                    max_user_data_bytes=_NO_LIMIT,
                )
                if name:
                    request.subject.spec.provisioner.Clear()
                    request.subject.spec.provisioner.name = name
                try:
                    trees.append(_tree(question.name, await backend.user_data(request)))
                except SlipwayError as error:
                    note_error(loaded, question, error)
    return trees


def _tree(machine: str, answer: bootstrappb.GetUserDataResponse) -> dict[str, Any]:
    squeezed = compress(answer.user_data)
    fits = {}
    for name, row in infrastructures().items():
        raw, small = row.count(answer.user_data), row.count(squeezed)
        if raw <= row.limit_bytes:
            verdict = "yes"
        elif row.gzip and small <= row.limit_bytes:
            verdict = "gzip"
        else:
            verdict = "no"
        fits[name] = {"limit": row.limit_bytes, "raw": raw, "gzip": small if row.gzip else None, "fits": verdict}
    return {
        "machine": machine,
        "provisioner": answer.provisioner.name,
        "format": answer.format,
        "raw_bytes": answer.size.raw_bytes,
        "gzip_bytes": answer.size.gzip_bytes,
        "items": [
            {"field": describe(one.origin), "path": one.field_path, "bytes": one.bytes} for one in answer.size.items
        ],
        "fits": fits,
    }


def _show(tree: dict[str, Any]) -> None:
    head = f"{tree['machine']} by {tree['provisioner']} ({tree['format']}): {tree['raw_bytes']} bytes"
    items: Sequence[dict[str, Any]] = tree["items"]
    rows = [[str(one["bytes"]), str(one["field"])] for one in items[:_MOST_ITEMS]]
    rest = items[_MOST_ITEMS:]
    if rest:
        rows.append([str(sum(one["bytes"] for one in rest)), f"{len(rest)} smaller items"])
    show(table(f"{head}, {tree['gzip_bytes']} after gzip", ["bytes", "item"], rows))
    fits = [
        [name, str(one["limit"]), str(one["raw"]), "" if one["gzip"] is None else str(one["gzip"]), str(one["fits"])]
        for name, one in tree["fits"].items()
    ]
    show(table("", ["infrastructure", "limit", "bytes", "gzip", "fits"], fits))
