"""slipway size."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
from rich.text import Text

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.delivery.fetching import is_fetched
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.bootstrapper.placeholders import user_placeholders
from slipway.bootstrapper.target import stated
from slipway.cli.connecting import connected
from slipway.cli.deliveries import fetched_delivery, inline_delivery
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.fits import all_fits, fit
from slipway.cli.loading import Loaded, load
from slipway.cli.options import (
    Connection,
    connection_from,
    connection_options,
    input_options,
    inputs_from,
    output_option,
)
from slipway.cli.output import emit, say, show, table
from slipway.cli.remarks import note_error, note_files
from slipway.cli.rendering import ALL, wishes
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb

_NO_LIMIT = 1 << 20
_MOST_FIELDS = 12


@click.command("size", short_help="Show bytes by item, against every infrastructure's limit.")
@input_options
@click.option("--provisioner", default="", metavar="NAME|all", help="This provisioner in place of the spec's; or all.")
@output_option()
@connection_options
@reported
def size(provisioner: str, output: str, **values: Any) -> None:
    """Show how large the user data of every machine is, which items make it so, and where it fits.

    The line "delivery" says how the user data reach the machine: inline, compressed, or fetched, with their size, as
    its infrastructure counts, and the limit. The first table shows which items of the bundle are large, the second
    whether the user data fits each infrastructure, by the rules of slipway render: "gzip" means that it fits only
    compressed. Where an infrastructure has a higher limit for a format, since it keeps it in an object store, that
    limit applies, and a line below says so.

    Without --server, secrets are generated for this call and discarded: keys have real sizes, and nothing is stored.
    A server counts with the cluster's own secrets, which it creates if none exist. Where a Secret that a spec refers
    to is not in the files, a short placeholder is counted.

    \b
    Examples:
      slipway size -f spec.yaml --provisioner cloud-init
      slipway size -f cluster.yaml --set-missing -o json

    \b
    Exit codes:
      0  the size of every machine was shown
      1  a machine is refused by all that were asked, or a file is invalid
      2  usage error
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
    # Placeholders of keys would be as long as keys and far easier to compress; a directory would keep what is made.
    async with connected(connection if connection.server else replace(connection, credentials=None)) as backend:
        instances = await (backend.provisioners() if provisioner == ALL else backend.known_provisioners())
        names = [name for name, _ in wishes(instances, provisioner, "")]
        for question in loaded.questions:
            for name in names:
                request = bootstrappb.GetUserDataRequest(
                    subject=question.subject,
                    credentials=_secrets(question),
                    accept_attachments=True,
                    max_user_data_bytes=_NO_LIMIT,
                )
                # The table is about the user data as such, which have no limit where machines fetch them.
                request.subject.spec.ClearField("delivery")
                if name:
                    request.subject.spec.provisioner.Clear()
                    request.subject.spec.provisioner.name = name
                try:
                    tree = _tree(question, await backend.user_data(request), instances)
                    if is_fetched(question.subject.spec):
                        request.subject.spec.delivery.CopyFrom(question.subject.spec.delivery)
                        tree["delivered"] = await fetched_delivery(backend, request)
                    trees.append(tree)
                except SlipwayError as error:
                    note_error(loaded, question, error, whose=name if len(names) > 1 else "")
    return trees


def _secrets(question: MachineQuestion) -> secretpb.SecretMaterial:
    """Give the secrets of the files, and a placeholder for each that the spec refers to and the files have not."""
    material = secretpb.SecretMaterial()
    material.CopyFrom(question.secrets)
    there = {(secret.name, secret.key) for secret in material.secrets}
    for secret in user_placeholders(question.subject.spec).secrets:
        if (secret.name, secret.key) not in there:
            material.secrets.append(secret)
    return material


def _tree(
    question: MachineQuestion,
    answer: bootstrappb.GetUserDataResponse,
    instances: Sequence[registrypb.ProvisionerInstance],
) -> dict[str, Any]:
    subject, info = question.subject, _info(answer, instances)
    target = stated(subject.spec.target, subject.machine.target)
    fits = all_fits(answer, info, unchanged=target.user_data_unchanged)
    return {
        "machine": question.name,
        "provisioner": answer.provisioner.name,
        "format": answer.format,
        "delivery": "Fetch" if is_fetched(subject.spec) else "Inline",
        "delivered": inline_delivery(target, fit(target, answer, info)),
        "raw_bytes": answer.size.raw_bytes,
        "gzip_bytes": answer.size.gzip_bytes,
        "items": [
            {"field": describe(item.origin), "path": item.field_path, "bytes": item.bytes} for item in answer.size.items
        ],
        "fits": {name: fit.tree() for name, fit in fits.items()},
    }


def _info(
    answer: bootstrappb.GetUserDataResponse, instances: Sequence[registrypb.ProvisionerInstance]
) -> provisionerpb.FormatInfo | None:
    """Find what the provisioner declares of the format, where a registry is known."""
    return next(
        (
            info
            for instance in instances
            if instance.info.name == answer.provisioner.name
            for info in instance.info.formats
            if info.format == answer.format
        ),
        None,
    )


def _show(tree: dict[str, Any]) -> None:
    head = f"{tree['machine']} by {tree['provisioner']} ({tree['format']}): {tree['raw_bytes']} bytes"
    show(Text(f"{head}, {tree['gzip_bytes']} after gzip", style="bold"))
    say(f"delivery: {tree['delivered']['words']}")
    show(table("what it is made of, in bytes of the bundle", ["bytes", "item"], _largest(tree["items"])))
    fits = [
        [name, str(fit["limit"]), str(fit["raw"]), "" if fit["gzip"] is None else str(fit["gzip"]), str(fit["fits"])]
        for name, fit in tree["fits"].items()
    ]
    columns = ["infrastructure", "limit", "bytes", "gzip", "fits"]
    show(table("where it fits, as each infrastructure counts", columns, fits))
    say(*(f"  {name}: {fit['why']}" for name, fit in tree["fits"].items() if fit["why"]), "")


def _largest(items: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Give a row for each field, since one field may have become many items, and one for the many that are small."""
    by_field: dict[str, list[int]] = {}
    for item in items:
        by_field.setdefault(str(item["field"]), []).append(int(item["bytes"]))
    ranked = sorted(by_field.items(), key=lambda pair: -sum(pair[1]))
    shown, rest = ranked[:_MOST_FIELDS], [size for _, sizes in ranked[_MOST_FIELDS:] for size in sizes]
    rows = [[str(sum(sizes)), field + (f", {len(sizes)} items" if len(sizes) > 1 else "")] for field, sizes in shown]
    return [*rows, *([[str(sum(rest)), f"{len(rest)} smaller items"]] if rest else [])]
