"""Start the registry's server."""

from pathlib import Path
from typing import Any

import click

from slipway.registry.server import NAME, serve_registry
from slipway.registry.settings import RegistrySettings
from slipway.registry.static_endpoints import StaticEndpointsError
from slipway.rpc.flags import server_options
from slipway.rpc.lifecycle import run


@click.command(NAME)
@server_options
@click.option("--allowed-provisioners", metavar="NAMES", help="Names that may register, comma-separated. Default: all.")
@click.option("--static-endpoints", metavar="FILE", help="YAML file of provisioners that do not register themselves.")
@click.option("--lease-ttl-seconds", type=float, help="How long a lease lasts. Default: 30.")
@click.option("--renew-after-seconds", type=float, help="When to renew it. Default: 10.")
@click.option("--probe-seconds", type=float, help="Time between two dials of an instance. Default: 10.")
@click.option("--dial-seconds", type=float, help="Deadline of each call of a dial. Default: 2.")
@click.option("--lease-namespace", help="Keep registrations in Leases of this namespace. Default: in memory.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The cluster of those Leases. Default: the one that this process runs in.",
)
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve the registry: which provisioners are ready, and what they can do."""
    settings = RegistrySettings.load(server_flags, **own_flags)
    try:
        run(serve_registry(settings))
    except StaticEndpointsError as error:
        raise click.ClickException(str(error)) from None


if __name__ == "__main__":
    main()
