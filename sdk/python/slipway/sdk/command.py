"""The command line of a provisioner: that of every server, and nothing of its own."""

from typing import Any

import click

from slipway.rpc import lifecycle
from slipway.rpc.addresses import is_loopback
from slipway.rpc.flags import server_options
from slipway.rpc.logs import configure_logging
from slipway.rpc.settings import ServerSettings
from slipway.sdk.provisioner import Provisioner
from slipway.sdk.server import serve


def command(provisioner: Provisioner) -> click.Command:
    """Give the command that serves a provisioner."""

    @click.command(
        name=f"slipway-provisioner-{provisioner.name}",
        help=f"Serve the provisioner {provisioner.name} {provisioner.version} over gRPC.\n\n"
        "With --registry-address it announces itself there and keeps its lease. Every flag can also be given as an "
        "environment variable, SLIPWAY_<FLAG>.",
    )
    @click.version_option(provisioner.version, prog_name=provisioner.name)
    @server_options
    def main(server_flags: dict[str, Any]) -> None:
        settings = ServerSettings.load(server_flags)
        if settings.insecure and not is_loopback(settings.registry_address or "localhost"):
            raise click.UsageError("--insecure calls this machine only: give --registry-address 127.0.0.1:PORT")
        configure_logging(log_format=settings.log_format, level=settings.log_level)
        lifecycle.run(serve(settings, provisioner))

    return main


def run(provisioner: Provisioner) -> None:
    """Be the process of a provisioner: read the command line, serve, drain, exit."""
    command(provisioner)()
