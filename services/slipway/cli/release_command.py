"""slipway release."""

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, note, show, table

_COLUMNS = ("namespace", "name", "result", "meaning")
_DEFAULT = Path("~/.kube/config")


@click.command("release", short_help="Hand KubeadmConfigs back to the kubeadm provider.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--all", "every", is_flag=True, help="All of the namespace that Slipway has not made the data of.")
@click.option("-n", "--namespace", default="default", show_default=True, help="Namespace of the objects.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The management cluster. Default: $KUBECONFIG, else ~/.kube/config.",
)
@output_option()
@reported
def release(names: tuple[str, ...], every: bool, namespace: str, kubeconfig: Path | None, output: str) -> None:  # noqa: FBT001  # click gives options by name
    """Hand opted-in KubeadmConfigs back to Cluster API's kubeadm provider, which then makes the data of their machines.

    Machines that have their data keep it, and are not touched. Slipway need not run. What is handed back stays so; to
    have machines to come made by the kubeadm provider as well, take the label bootstrap.slipway.dev/managed from the
    templates.

    \b
    Examples:
      slipway release --all -n clusters
      slipway release harbour-control-plane-x7k2p -n clusters

    \b
    Exit codes:
      0  what was named, or everything, is handed back or was never to be
      1  an object that was named is not Slipway's or has its data already, or the cluster does not answer
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    if bool(names) == every:
        raise click.UsageError("name KubeadmConfigs, or give --all")
    rows = asyncio.run(_released(_path(kubeconfig), namespace, names))
    if output != "table":
        emit([dict(zip(_COLUMNS, row, strict=True)) for row in rows], output)
    elif rows:
        show(table("", _COLUMNS, rows))
    else:
        note("nothing is to be handed back", "note")
    if names and any(row[2] != "released" for row in rows):
        sys.exit(FAILED)


def _path(kubeconfig: Path | None) -> Path:
    path = (kubeconfig or Path(os.environ.get("KUBECONFIG") or _DEFAULT)).expanduser()
    if not path.is_file():
        raise ConnectionError(f"{path}: there is no such file")
    return path


async def _released(kubeconfig: Path, namespace: str, names: tuple[str, ...]) -> list[list[str]]:
    # The client of Kubernetes is large, and no other command needs it.
    from slipway.controller import ownership  # noqa: PLC0415  # of the Kubernetes client
    from slipway.controller.opt_in.release import MEANINGS, Releaser  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.api import Api  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.connection import Connection, KubeconfigUnusable  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.failures import ApiFailure  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.resources import KUBEADM_CONFIGS  # noqa: PLC0415  # of the Kubernetes client

    try:
        connection = await Connection.by_kubeconfig(kubeconfig)
    except KubeconfigUnusable as error:
        raise ConnectionError(f"{kubeconfig}: {error}") from None
    try:
        api = Api(connection)
        if not names:
            selector = f"{ownership.OWNER}={ownership.SLIPWAY}"
            items, _ = await api.list(KUBEADM_CONFIGS, namespace, selector=selector)
            names = tuple(str(item["metadata"]["name"]) for item in items if ownership.held(item) or _unfinished(item))
        releaser = Releaser(api, lambda: datetime.now(UTC))
        rows = []
        for name in names:
            outcome = await releaser.release(namespace, name)
            rows.append([namespace, name, outcome.value, MEANINGS[outcome]])
    except ApiFailure as error:
        raise ConnectionError(str(error)) from None
    else:
        return rows
    finally:
        await connection.close()


def _unfinished(config: dict[str, object]) -> bool:
    """Whether an object was handed back, and the kubeadm provider has not got on with it."""
    from slipway.controller import ownership  # noqa: PLC0415  # of the Kubernetes client

    status = config.get("status")
    return ownership.released(config) and not (isinstance(status, dict) and status.get("dataSecretName"))
