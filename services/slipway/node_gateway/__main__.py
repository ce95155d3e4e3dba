"""Start the node gateway."""

from typing import Any

import click

from slipway.node_gateway.server import NAME, serve_gateway
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import Store
from slipway.rpc.flags import server_options
from slipway.rpc.lifecycle import run


@click.command(NAME)
@server_options
@click.option("--store", metavar="URL", help="The files: file:///FOLDER, s3://BUCKET/PREFIX, gs://..., az://...")
@click.option("--peer-bytes-per-second", type=int, help="Bytes a second of a peer; 0: no limit. Default: 64 MiB.")
@click.option("--peer-requests-per-second", type=float, help="Requests a second of a peer; 0: no limit. Default: 50.")
@click.option("--peer-connections", type=int, help="Connections of a peer at a time. Default: 32.")
@click.option("--connections", type=int, help="Connections at a time. Default: 1024.")
@click.option("--connection-seconds", type=float, help="Most seconds that a connection lives. Default: 900.")
@click.option("--max-blob-bytes", type=int, help="Larger files are not served. Default: 256 MiB.")
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve files by digest, and payloads, to machines that boot."""
    settings = GatewaySettings.load(server_flags, **own_flags)
    try:
        store = Store.of(settings.store)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    run(serve_gateway(settings, store))


if __name__ == "__main__":
    main()
