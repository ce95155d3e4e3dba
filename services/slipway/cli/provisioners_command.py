"""slipway provisioners."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click
from pydantic import ValidationError

from slipway.bootstrapper.provisioning.settings import VERSIONS_FLAG, VersionSettings
from slipway.bootstrapper.provisioning.versions import VersionRules
from slipway.cli.connecting import connected
from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import Connection, connection_from, connection_options, output_option
from slipway.cli.output import emit, note, show, table
from slipway.contract.yaml_names import enum_word
from slipway.v1alpha1 import registry_service_pb2 as registrypb

_COLUMNS = ("name", "version", "state", "format", "features", "endpoint")


def _rules(_context: click.Context, _parameter: click.Parameter, text: str) -> VersionRules:
    try:
        return VersionSettings(provisioner_versions=text).versions()  # type: ignore[arg-type]  # split by its validator
    except ValidationError as error:
        raise click.BadParameter(error.errors(include_url=False, include_input=False)[0]["msg"]) from None


@click.command("provisioners", short_help="List provisioners, their formats and their state.")
@output_option()
@connection_options
@click.option(
    VERSIONS_FLAG,
    "rules",
    default="",
    envvar="SLIPWAY_PROVISIONER_VERSIONS",
    metavar="RULES",
    callback=_rules,
    help="Show which versions these rules of a bootstrapper refuse: NAME>=VERSION or NAME==VERSION, comma-separated.",
)
@reported
def provisioners(output: str, rules: VersionRules, **values: Any) -> None:
    """List all instances of all provisioners: those of this process, or those that a server's registry knows.

    \b
    Examples:
      slipway provisioners
      slipway provisioners --registry 127.0.0.1:9440 --insecure -o json
      slipway provisioners --provisioner-versions talos==0.1.0

    \b
    Exit codes:
      0  at least one provisioner is ready, and its version allowed
      1  none is, or the registry does not answer
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    connection = connection_from(values)
    if connection.registry and not connection.server:
        connection = replace(connection, server=connection.registry)
    instances = asyncio.run(_instances(connection))
    trees = [{**_tree(instance), "refusal": rules.refusal(instance.info)} for instance in instances]
    if output != "table":
        emit(trees, output)
    else:
        show(table("", _COLUMNS, [row for tree in trees for row in _rows(tree)]))
        for tree in trees:
            if tree["reason"]:
                note(f"{tree['name']} at {tree['endpoint']}: {tree['reason']}", "note")
            if tree["refusal"]:
                note(f"{tree['name']} {tree['version']} at {tree['endpoint']}: {tree['refusal']}", "refused")
    if not any(
        instance.state == registrypb.INSTANCE_STATE_READY and not rules.refusal(instance.info) for instance in instances
    ):
        sys.exit(FAILED)


async def _instances(connection: Connection) -> Sequence[registrypb.ProvisionerInstance]:
    async with connected(connection) as backend:
        return await backend.provisioners()


def _tree(instance: registrypb.ProvisionerInstance) -> dict[str, Any]:
    return {
        "name": instance.info.name,
        "version": instance.info.implementation_version,
        "instance_id": instance.instance_id,
        "state": state_name(instance.state),
        "reason": instance.state_reason,
        "endpoint": instance.endpoint,
        "identity": instance.identity,
        "formats": [
            {"format": info.format, "features": [feature.id for feature in info.features]}
            for info in instance.info.formats
        ],
    }


def _rows(tree: dict[str, Any]) -> list[list[str]]:
    """Give a row for each format; what is the instance's stands in the first."""
    rows = []
    for index, info in enumerate(tree["formats"] or [{"format": "", "features": []}]):
        head = [tree["name"], tree["version"], tree["state"]] if index == 0 else ["", "", ""]
        endpoint = tree["endpoint"] if index == 0 else ""
        rows.append([*head, info["format"], str(len(info["features"])), endpoint])
    return rows


def state_name(state: registrypb.InstanceState.ValueType) -> str:
    """Give a state for people: "not-ready"."""
    return enum_word(registrypb.InstanceState.DESCRIPTOR, state)
