"""Start the node gateway."""

from pathlib import Path
from typing import Any

import click

from slipway.node_gateway.reports import Reports
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
@click.option(
    "--payload-notes",
    metavar="URL",
    help="Note there which payloads were fetched, for the controller whose --payload-store it is.",
)
@click.option("--report-store", metavar="URL", help="Keep reports of machines there, a URL as for --store.")
@click.option(
    "--report-key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Let machines write reports by addresses that the first key of this file signs; each of its keys is accepted.",
)
@click.option("--report-inbox", metavar="URL", help="Look for reports there, which machines wrote by pre-signed URLs.")
@click.option("--report-inbox-seconds", type=float, help="Time between two looks. Default: 30.")
@click.option("--report-days", type=float, help="Delete older reports. Default: 14.")
@click.option("--report-bytes", type=int, help="Delete the oldest reports beyond so many bytes. Default: 10 GiB.")
@click.option(
    "--machine-reports-per-second", type=float, help="Reports a second of a machine; 0: no limit. Default: 1."
)
@click.option("--management-address", metavar="HOST:PORT", help="Serve ReportService there, by gRPC.")
@click.option(
    "--management-tls-cert-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory with tls.crt, tls.key and ca.crt of that server; followed when the files change.",
)
@click.option("--report-readers", metavar="LIST", help="Who may read reports: SPIFFE ids, or ID=NAMESPACE.")
@click.option("--console-callers", metavar="LIST", help="Who may bring the text of consoles, as --report-readers.")
@click.option("--web-address", metavar="HOST:PORT", help="Show the reports to people there, as a web page.")
@click.option(
    "--web-tls-cert-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory with tls.crt, tls.key and ca.crt of that page; followed when the files change.",
)
@click.option(
    "--web-user-header",
    metavar="NAME",
    help="A reverse proxy names the user in this header, as X-Forwarded-User: the rights of that user count.",
)
@click.option("--web-groups-header", metavar="NAME", help="The same of the user's groups, with commas between them.")
@click.option("--web-proxies", metavar="LIST", help="SPIFFE ids of the certificates of that proxy.")
@click.option(
    "--review-tokens/--no-review-tokens",
    default=None,
    help="Ask the management cluster about callers that are on no list, by the tokens that they show.",
)
@click.option("--token-audiences", metavar="LIST", help="For one of these a token must be issued. Default: slipway.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The management cluster. Default: that of this pod, or as kubectl does.",
)
def main(server_flags: dict[str, Any], **own_flags: Any) -> None:
    """Serve files by digest, and payloads, to machines that boot; keep what they report."""
    settings = GatewaySettings.load(server_flags, **own_flags)
    try:
        store = Store.of(settings.store)
        reports = Reports.of(settings)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    run(serve_gateway(settings, store, reports))


if __name__ == "__main__":
    main()
