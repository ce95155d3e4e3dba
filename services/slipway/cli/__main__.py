"""The entry point of the command line. Everything else is imported below it, so that Ctrl-C is quiet from the start."""

import os
import signal
import sys

from slipway.cli.exit_codes import INTERRUPTED


def main() -> None:
    """Run the command line and end the process."""
    # gRPC reads it when it is first imported. Its own lines, of handshakes that fail on purpose, do not help a person.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Asked to end, a command clears up as after Ctrl-C: what it has started does not outlive it.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        from slipway.cli.command_line import cli  # noqa: PLC0415  # after gRPC's variable is set

        cli(prog_name="slipway")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
