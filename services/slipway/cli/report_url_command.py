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
    "--gateway", metavar="URL", help="Where machines reach the node gateway: https://HOST:PORT; with --key-file."
)
@click.option(
    "--key-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The gateway's --report-key-file; its first key signs.",
)
@click.option(
    "--bucket", metavar="URL", help="Sign for this bucket in place of a gateway: the gateway's --report-inbox."
)
@click.option("-n", "--namespace", default="default", show_default=True, metavar="NAME", help="Its namespace.")
@click.option("--cluster", required=True, metavar="NAME", help="Its cluster.")
@click.option("--bundle-id", required=True, metavar="ID", help="Its bundle: `bundleId` in the status of its config.")
@click.option(
    "--hours",
    default=24.0,
    show_default=True,
    type=click.FloatRange(0, _MOST_HOURS, min_open=True),
    help="How long they are valid; of a bucket at most 168.",
)
@output_option()
@reported
def report_url(*, machine: str, key_file: Path | None, hours: float, output: str, **texts: str) -> None:
    """Make the addresses to which one machine writes its reports, by HTTP PUT and without any other credential.

    A client that has such an address may write this object of this machine until it expires, and can neither read it
    nor write another one. It belongs into the machine's user data and nowhere else. Of a bucket they are pre-signed
    URLs: the credentials that sign them come from the environment (AWS_ACCESS_KEY_ID ...).

    \b
    Examples:
      slipway report-url w1 --cluster c --bundle-id 0123456789abcdef --gateway https://gw --key-file report.key
      slipway report-url w1 --cluster c --bundle-id 0123456789abcdef --bucket s3://inbox
      curl -T /var/lib/slipway/events.jsonl "$URL"

    \b
    Exit codes:
      0  the addresses were printed
      2  usage error, a name that is invalid, or a file without good keys
    """  # noqa: D301  # click's mark for lines that stay
    gateway, bucket = texts.get("gateway"), texts.get("bucket")
    if (gateway is None) != (key_file is None) or (gateway is None) == (bucket is None):
        raise click.UsageError("give --gateway and --key-file, or --bucket")
    expires = int(time.time() + hours * 3600)
    try:
        key = BundleKey(texts["namespace"], texts["cluster"], machine, texts["bundle_id"])
        targets = [Target(key, kind) for kind in Kind]
        if gateway is not None and key_file is not None:
            urls = _signed_by_key(gateway, key_file, targets, expires)
        else:
            urls = _signed_by_bucket(bucket or "", targets, hours)
    except (KeyFileInvalid, NameInvalid) as error:
        raise click.UsageError(str(error)) from None
    if output == "table":
        say(*(f"{kind:6}  {url}" for kind, url in urls.items()))
    else:
        emit({**urls, "expires": expires}, output)


def _signed_by_key(gateway: str, key_file: Path, targets: list[Target], expires: int) -> dict[str, str]:
    base = gateway.rstrip("/")
    if not base.startswith(("https://", "http://")) or "?" in base or "#" in base:
        raise click.UsageError("--gateway takes https://HOST:PORT, without a query")
    capabilities = Capabilities.of_file(key_file)
    return {target.kind.value: base + capabilities.address(target, expires=expires) for target in targets}


def _signed_by_bucket(bucket: str, targets: list[Target], hours: float) -> dict[str, str]:
    # Only this needs the library of object stores.
    from slipway.reports.bucket import MOST_HOURS, BucketInvalid, presigned_url  # noqa: PLC0415  # the library of object stores

    if hours > MOST_HOURS:
        raise click.UsageError(f"--hours must be at most {MOST_HOURS} with --bucket")
    try:
        return {target.kind.value: presigned_url(bucket, target, seconds=int(hours * 3600) or 1) for target in targets}
    except BucketInvalid as error:
        raise click.UsageError(f"--bucket: {error}") from None
