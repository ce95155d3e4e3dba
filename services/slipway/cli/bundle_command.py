"""slipway bundle."""

import asyncio
import base64
import re
import sys
from typing import Any

import click

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.cli.connecting import connected
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.loading import Loaded, load
from slipway.cli.options import Connection, connection_from, connection_options, input_options, inputs_from
from slipway.cli.output import OUTPUTS, emit, show, table
from slipway.cli.remarks import note_error, note_files
from slipway.cli.rendering import check_provisioner
from slipway.contract.errors import SlipwayError
from slipway.contract.items import items
from slipway.contract.yaml_encode import encode
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_SIZE_IN_BASE64 = re.compile(r"PD[A-Za-z0-9+/]{6,30}={0,2}")
_SIZE = re.compile(rb"<[0-9]+ bytes?>")


@click.command("bundle", short_help="Show the neutral bundle of every machine, without secrets.")
@input_options
@click.option("--lowered-for", default="", metavar="PROVISIONER", help="Lowered for this provisioner: what it gets.")
@click.option("--show-secrets", is_flag=True, help="Print secrets and file contents too; a server must allow it.")
@click.option(
    "-o", "--output", type=click.Choice(OUTPUTS), default="yaml", show_default=True,
    help="How to print it; table lists the items only.",
)  # fmt: skip
@connection_options
@reported
def bundle(lowered_for: str, show_secrets: bool, output: str, **values: Any) -> None:  # noqa: FBT001  # click gives options by name
    """Show the bootstrap bundle of every machine: what crosses to a provisioner.

    In place of every secret and of every file's content stands its size. Without --show-secrets no secret is needed or
    made.

    \b
    Examples:
      slipway bundle -f spec.yaml --machine worker
      slipway bundle -f cluster.yaml --set-missing --lowered-for ignition -o table
      slipway bundle -f spec.yaml --machine worker --credentials secrets --show-secrets

    \b
    Exit codes:
      0  a bundle was shown for every machine
      1  a machine is refused, or a file is invalid
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    loaded = load(inputs_from(values))
    note_files(loaded)
    bundles = asyncio.run(_bundles(loaded, connection_from(values), lowered_for=lowered_for, show_secrets=show_secrets))
    if output == "table":
        for name, entry in bundles:
            rows = [
                [describe(item.message.origin), item.feature, str(item.message.ByteSize())] for item in items(entry)
            ]
            show(table(name, ["item", "feature", "bytes"], rows))
    elif bundles:
        trees = [encode(entry) if show_secrets else readable(encode(entry)) for _, entry in bundles]
        emit(trees if len(loaded.questions) > 1 else trees[0], output)
    if len(bundles) < len(loaded.questions):
        sys.exit(FAILED)


async def _bundles(
    loaded: Loaded, connection: Connection, *, lowered_for: str, show_secrets: bool
) -> list[tuple[str, bundlepb.BootstrapBundle]]:
    bundles = []
    async with connected(connection) as backend:
        instances = await backend.known_provisioners()
        if lowered_for and instances:
            check_provisioner(instances, lowered_for)
        for question in loaded.questions:
            request = _request(question, lowered_for=lowered_for, show_secrets=show_secrets)
            try:
                bundles.append((question.name, (await backend.bundle(request)).bundle))
            except SlipwayError as error:
                note_error(loaded, question, error)
    return bundles


def _request(question: MachineQuestion, *, lowered_for: str, show_secrets: bool) -> bootstrappb.GetBundleRequest:
    request = bootstrappb.GetBundleRequest(
        subject=question.subject, lowered=bool(lowered_for), include_secrets=show_secrets
    )
    if lowered_for:
        request.subject.spec.provisioner.name = lowered_for
    if show_secrets:
        request.credentials.CopyFrom(question.secrets)
    return request


def readable(tree: Any) -> Any:
    """Give a tree of a redacted message in which every size is text: `<542 bytes>`.

    Where a field is bytes, the size that stands in place of its secret comes in base64.
    """
    if isinstance(tree, dict):
        return {key: readable(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [readable(value) for value in tree]
    if isinstance(tree, str) and len(tree) % 4 == 0 and _SIZE_IN_BASE64.fullmatch(tree):
        decoded = base64.b64decode(tree)
        return decoded.decode() if _SIZE.fullmatch(decoded) else tree
    return tree
