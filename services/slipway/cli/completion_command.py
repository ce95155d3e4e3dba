"""slipway completion."""

import click
from click.shell_completion import get_completion_class

from slipway.cli.failures import reported
from slipway.cli.output import say

SHELLS = ("bash", "zsh", "fish")


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
