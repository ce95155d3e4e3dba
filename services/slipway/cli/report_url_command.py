"""slipway report-url."""

import time
from pathlib import Path

import click

from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, say
from slipway.reports.capability import Capabilities, KeyFileInvalid, Kind, Target
from slipway.reports.names import BundleKey, NameInvalid

_MOST_HOURS = 24 * 365


@click.command("report-url", short_help="Make the addresses to which one machine writes its reports.")
@click.argument("machine", metavar="MACHINE")
@click.option(
    "--gateway", required=True, metavar="URL", help="Where machines reach the node gateway: https://HOST:PORT."
)
@click.option(
    "--key-file",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="The gateway's --report-key-file; its first key signs.",
)
@click.option("-n", "--namespace", default="default", show_default=True, metavar="NAME", help="Its namespace.")
@click.option("--cluster", required=True, metavar="NAME", help="Its cluster.")
@click.option("--bundle-id", required=True, metavar="ID", help="Its bundle: `bundleId` in the status of its config.")
@click.option(
    "--hours",
    default=24.0,
    show_default=True,
    type=click.FloatRange(0, _MOST_HOURS, min_open=True),
    help="How long they are valid.",
)
@output_option()
@reported
def report_url(*, machine: str, gateway: str, key_file: Path, hours: float, output: str, **names: str) -> None:
    """Make the addresses to which one machine writes its reports, by HTTP PUT and without any other credential.

    A client that has such an address may write this object of this machine until it expires, and can neither read it
    nor write another one. It belongs into the machine's user data and nowhere else.

    \b
    Examples:
      slipway report-url w1 --cluster c --bundle-id 0123456789abcdef --gateway https://gw --key-file report.key
      curl -T /var/lib/slipway/events.jsonl "$URL"

    \b
    Exit codes:
      0  the addresses were printed
      2  usage error, a name that is invalid, or a file without good keys
    """  # noqa: D301  # click's mark for lines that stay
    base = gateway.rstrip("/")
    if not base.startswith(("https://", "http://")) or "?" in base or "#" in base:
        raise click.UsageError("--gateway takes https://HOST:PORT, without a query")
    try:
        capabilities = Capabilities.of_file(key_file)
        key = BundleKey(names["namespace"], names["cluster"], machine, names["bundle_id"])
    except (KeyFileInvalid, NameInvalid) as error:
        raise click.UsageError(str(error)) from None
    expires = int(time.time() + hours * 3600)
    urls = {kind.value: base + capabilities.address(Target(key, kind), expires=expires) for kind in Kind}
    if output == "table":
        say(*(f"{kind:6}  {url}" for kind, url in urls.items()))
    else:
        emit({**urls, "expires": expires}, output)
