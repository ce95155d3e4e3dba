"""The command line: a program, its limits, and the flags of every server."""

import shlex
from typing import Any

import click

from slipway.program_provisioner.core import ProgramCore, ask_who_it_is
from slipway.program_provisioner.long_lived import LongLived
from slipway.program_provisioner.processes import Limits, ProcessPerCall, Program
from slipway.program_provisioner.wire import JsonWire, ProtobufWire, Wire
from slipway.rpc import lifecycle
from slipway.rpc.flags import server_options
from slipway.rpc.logs import configure_logging
from slipway.rpc.settings import ServerSettings
from slipway.sdk.server import serve_core

LOGGED = ("call", "text")
"""What its log says of a program, besides what every server's may."""

_DEFAULT = Limits()


def _words(_context: click.Context, _parameter: click.Parameter, value: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(value))
    except ValueError:
        raise click.BadParameter("its quotes do not match") from None
    if not words:
        raise click.BadParameter("it must name a program")
    return words


@click.command("serve", short_help="Serve a program in any language as a provisioner.")
@click.option("--exec", "words", required=True, callback=_words, metavar="COMMAND", help="The program, with arguments.")
@click.option(
    "--encoding", type=click.Choice(["json", "protobuf"]), default="json", show_default=True,
    help="How the program reads and writes the messages of the contract.",
)  # fmt: skip
@click.option("--long-lived", is_flag=True, help="Keep processes, and give each a call after the other.")
@click.option(
    "--processes", type=click.IntRange(1, 256), default=_DEFAULT.processes, show_default=True,
    help="How many run at once; further calls wait.",
)  # fmt: skip
@click.option(
    "--call-seconds", type=click.FloatRange(0.1, 25), default=_DEFAULT.seconds, show_default=True,
    help="Most time of the program for one call. The contract allows 10 for all of it.",
)  # fmt: skip
@click.option(
    "--answer-bytes", type=click.IntRange(1024, 1 << 26), default=_DEFAULT.answer_bytes, show_default=True,
    help="Most that the program may write for one call.",
)  # fmt: skip
@server_options
def serve(  # noqa: PLR0913  # click gives each option as an argument
    *,
    words: tuple[str, ...],
    encoding: str,
    long_lived: bool,
    processes: int,
    call_seconds: float,
    answer_bytes: int,
    server_flags: dict[str, Any],
) -> None:
    """Serve a program in any language as a provisioner: it reads a request and writes an answer.

    TLS, health, registration and lease, drain, limits, the checks of features and the form of every error are done for
    it; how to write one is in docs/how-to/serve-a-program.md.

    \b
    Examples:
      slipway provisioner serve --exec ./provisioner.sh --insecure --listen-address 127.0.0.1:9450
      slipway provisioner serve --exec 'node render.js' --long-lived --tls-cert-dir certificates
      slipway conformance run --start-cmd 'slipway provisioner serve --exec ./provisioner.sh'

    \b
    Exit codes:
      0  it was ended by Ctrl-C or SIGTERM
      1  it could not start, or the program does not say who it is
      2  the command line is wrong
    """  # noqa: D301  # click's mark for lines that stay
    settings = ServerSettings.load(server_flags)
    configure_logging(log_format=settings.log_format, level=settings.log_level, extra_keys=LOGGED)
    limits = Limits(seconds=call_seconds, answer_bytes=answer_bytes, processes=processes)
    wire: Wire = JsonWire() if encoding == "json" else ProtobufWire()
    lifecycle.run(_serve(settings, words, wire=wire, limits=limits, long_lived=long_lived))


async def _serve(
    settings: ServerSettings, words: tuple[str, ...], *, wire: Wire, limits: Limits, long_lived: bool
) -> None:
    kind = LongLived if long_lived else ProcessPerCall
    program: Program = kind(words, wire=wire, limits=limits)
    try:
        declared = await ask_who_it_is(program, wire)
        await serve_core(settings, ProgramCore(declared, program=program, wire=wire), log_keys=LOGGED)
    finally:
        await program.close()
