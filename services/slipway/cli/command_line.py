"""All commands under one name."""

import click

from slipway.cli.artifacts_command import artifacts
from slipway.cli.bundle_command import bundle
from slipway.cli.completion_command import completion
from slipway.cli.conformance_command import conformance
from slipway.cli.diagnose_command import diagnose
from slipway.cli.diff_command import diff
from slipway.cli.explain_command import explain
from slipway.cli.import_command import import_
from slipway.cli.provisioner_command import provisioner
from slipway.cli.provisioners_command import provisioners
from slipway.cli.release_command import release
from slipway.cli.render_command import render
from slipway.cli.size_command import size
from slipway.cli.up_command import up
from slipway.cli.validate_command import validate
from slipway.contract.version import VERSION


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(VERSION, prog_name="slipway")
def cli() -> None:
    """One neutral bootstrap bundle, any provisioner.

    slipway turns "this machine shall become a Kubernetes node" into the first-boot user data for cloud-init, Ignition,
    Talos and Windows, and says before the machine exists what can not be honoured.

    \b
    A first look at any Cluster API template:
      slipway render -f cluster.yaml --set-missing --provisioner all
      slipway explain -f cluster.yaml --set-missing

    Results go to standard output, remarks to standard error. Exit codes: 0 as asked; 1 something was refused or is
    invalid; 2 used wrongly; 130 ended by Ctrl-C.
    """  # noqa: D301  # click's mark for lines that stay


for command in (
    render, explain, validate, import_, diff, bundle, size, provisioners, provisioner, conformance, artifacts, release,
    up, diagnose, completion,
):  # fmt: skip
    cli.add_command(command)
