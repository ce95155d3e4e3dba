"""slipway provisioner: for those who write one."""

from pathlib import Path

import click

from slipway.cli.failures import reported
from slipway.cli.output import say
from slipway.cli.scaffold import label_of, package_of, scaffold


class _Group(click.Group):
    """Loads a server where it is asked for: it brings all of gRPC along."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Give all names."""
        return sorted([*super().list_commands(ctx), "fake", "serve"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command."""
        if cmd_name == "fake":
            from slipway.fake_provisioner.command import fake  # noqa: PLC0415  # a server, with all of gRPC

            return fake
        if cmd_name == "serve":
            from slipway.program_provisioner.command import serve  # noqa: PLC0415  # a server, with all of gRPC

            return serve
        return super().get_command(ctx, cmd_name)


@click.group(
    "provisioner", cls=_Group, short_help="Write a provisioner of your own, serve a program as one, or fake one."
)
def provisioner() -> None:
    """Write a provisioner of your own, for a first-boot system that Slipway does not know yet; or fake one.

    `new` starts one in Python, `serve` makes one of a program in any language.
    """


@provisioner.command("new", short_help="Start a provisioner: a package that works, with a test.")
@click.argument("name")
@click.option(
    "-o", "--output", "folder", default=None, metavar="DIR", type=click.Path(path_type=Path, file_okay=False),
    help="Where to write it: a new or empty directory. Default: one of its own name, up to the first dot.",
)  # fmt: skip
@reported
def new(name: str, folder: Path | None) -> None:
    """Write a small provisioner NAME that renders, serves, registers itself and has a test.

    NAME is what it registers as: lower-case letters, digits and dashes, best below a domain of yours.

    \b
    Examples:
      slipway provisioner new acme
      slipway provisioner new acme.example.com -o src/acme

    \b
    Exit codes:
      0  it was written
      1  it could not be written
      2  the name cannot be used, or there is something in the directory
    """  # noqa: D301  # click's mark for lines that stay
    place = folder or Path(label_of(name))
    try:
        files = scaffold(name, place)
    except (ValueError, FileExistsError) as error:
        raise click.UsageError(str(error)) from None
    package = package_of(name)
    say(
        *(str(file) for file in files),
        "",
        f"Test it:    cd {place} && python -m pytest",
        f"Serve it:   cd {place} && python -m {package} --insecure --listen-address 127.0.0.1:9500",
        f"Try it all: cd {place} && slipway conformance run --start-cmd 'python -m {package}' \\",
        f'              --decode-cmd "python $PWD/{package}/decode.py"',
        f"Write it:   {place / package / 'render.py'}",
    )
