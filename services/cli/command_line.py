"""All commands under one name."""

import click

from services.cli.bundle_command import bundle
from services.cli.completion_command import completion
from services.cli.conformance_command import conformance
from services.cli.diff_command import diff
from services.cli.explain_command import explain
from services.cli.import_command import import_
from services.cli.provisioner_command import provisioner
from services.cli.provisioners_command import provisioners
from services.cli.release_command import release
from services.cli.render_command import render
from services.cli.size_command import size
from services.cli.up_command import up
from services.cli.validate_command import validate
from services.version import VERSION


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
    render, explain, validate, import_, diff, bundle, size, provisioners, provisioner, conformance, release, up,
    completion,
):  # fmt: skip
    cli.add_command(command)
