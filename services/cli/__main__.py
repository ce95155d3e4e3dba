"""The entry point of the command line. Everything else is imported below it, so that Ctrl-C is quiet from the start."""

import sys

from services.cli.exit_codes import INTERRUPTED


def main() -> None:
    """Run the command line and end the process."""
    try:
        from services.cli.command_line import cli  # noqa: PLC0415  # see above

        cli(prog_name="slipway")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
