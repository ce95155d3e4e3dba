"""The command line of the fake: a script, and the flags of every server."""

import json
from pathlib import Path
from typing import Any

import click

from slipway.fake_provisioner.script import Script, ScriptError, read_script
from slipway.fake_provisioner.server import serve
from slipway.rpc import lifecycle
from slipway.rpc.flags import server_options
from slipway.rpc.logs import configure_logging
from slipway.rpc.settings import ServerSettings

LOGGED = ("call", "number", "fault")
"""What its log says of each call, besides what every server's may."""


@click.command("fake", short_help="Serve a provisioner that misbehaves as a script says.")
@click.option(
    "--script", type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="YAML file with what goes wrong. Without it nothing does.",
)  # fmt: skip
@click.option("--schema", is_flag=True, help="Print the JSON schema of scripts, and end.")
@server_options
def fake(script: Path | None, schema: bool, server_flags: dict[str, Any]) -> None:  # noqa: FBT001  # click gives options by name
    """Serve a provisioner that misbehaves as a script says, to test what calls provisioners.

    What is not scripted is sound. Each call is logged with its number and its fault.

    \b
    Examples:
      slipway provisioner fake --insecure --listen-address 127.0.0.1:9450 --registry-address 127.0.0.1:9440
      slipway provisioner fake --script faults.yaml --tls-cert-dir certificates
      slipway provisioner fake --schema

    \b
    A script:
      name: acme.example.com
      render:
        - {calls: 3, fault: Status, reason: NO_READY_PROVISIONER, retryAfter: 2s}
        - {calls: 4-, fault: Hang}

    \b
    Exit codes:
      0  it was ended by Ctrl-C or SIGTERM
      1  it could not start
      2  the command line or the script is wrong
      70  the script let it die
    """  # noqa: D301  # click's mark for lines that stay
    if schema:
        click.echo(json.dumps(Script.model_json_schema(), indent=2))
        return
    settings = ServerSettings.load(server_flags)
    try:
        scenario = read_script(script) if script else Script()
    except ScriptError as error:
        raise click.UsageError(str(error)) from None
    configure_logging(log_format=settings.log_format, level=settings.log_level, extra_keys=LOGGED)
    lifecycle.run(serve(settings, scenario))
