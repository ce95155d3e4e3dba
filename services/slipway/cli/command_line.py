"""All commands under one name, and their completion in a shell."""

from typing import Any

import click
from click.shell_completion import get_completion_class

from slipway.cli.artifacts_command import artifacts
from slipway.cli.bundle_command import bundle
from slipway.cli.compliance_command import compliance
from slipway.cli.conformance_command import conformance
from slipway.cli.diagnose_command import diagnose
from slipway.cli.diff_command import diff
from slipway.cli.directory_command import directory
from slipway.cli.explain_command import explain
from slipway.cli.failures import reported
from slipway.cli.import_command import import_
from slipway.cli.logs_command import logs
from slipway.cli.output import say
from slipway.cli.provisioner_command import provisioner
from slipway.cli.provisioners_command import provisioners
from slipway.cli.release_command import release
from slipway.cli.render_command import render
from slipway.cli.report_url_command import report_url
from slipway.cli.size_command import size
from slipway.cli.status_command import status
from slipway.cli.up_command import up
from slipway.cli.validate_command import validate
from slipway.contract.control_characters import escape_controls
from slipway.contract.version import VERSION

SHELLS = ("bash", "zsh", "fish")


class Commands(click.Group):
    """The commands. What is wrong with a command line is printed by click; a file's name in it may be anyone's."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except click.ClickException as error:
            # Each kind of error makes its text of it; to type checkers it is final.
            vars(error)["message"] = escape_controls(error.message)
            raise


@click.command("completion", short_help="Print the completion script for a shell.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
@reported
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    Examples:
      source <(slipway completion bash)        # in ~/.bashrc
      source <(slipway completion zsh)         # in ~/.zshrc
      slipway completion fish > ~/.config/fish/completions/slipway.fish

    \b
    Exit codes:
      0  it was printed
      2  the shell is not known
    """  # noqa: D301  # click's mark for lines that stay
    shell_class = get_completion_class(shell)
    if shell_class is None:
        raise click.UsageError("this shell is not known")
    say(shell_class(context.find_root().command, {}, "slipway", "_SLIPWAY_COMPLETE").source())


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(VERSION, prog_name="slipway")
def cli() -> None:
    """One neutral bootstrap bundle, any provisioner.

    slipway turns "this machine becomes a Kubernetes node" into the first-boot user data for cloud-init, Ignition, Talos
    and Windows. It reports fields that are not supported before the machine exists.

    \b
    Start with any Cluster API template:
      slipway render -f cluster.yaml --set-missing --provisioner all
      slipway explain -f cluster.yaml --set-missing

    Results go to standard output, diagnostics to standard error. Exit codes: 0 success; 1 something was refused or is
    invalid; 2 usage error; 130 ended by Ctrl-C.
    """  # noqa: D301  # click's mark for lines that stay


for command in (
    render, explain, validate, import_, diff, bundle, size, provisioners, provisioner, conformance, artifacts, release,
    directory, up, diagnose, status, logs, compliance, report_url, completion,
):  # fmt: skip
    cli.add_command(command)
