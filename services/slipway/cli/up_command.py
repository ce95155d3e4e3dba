"""slipway up."""

import asyncio
import signal
import socket
import tempfile
from pathlib import Path

import click

from slipway.cli.exit_codes import FAILED
from slipway.cli.failures import reported
from slipway.cli.options import output_option
from slipway.cli.output import emit, note, say, show, table
from slipway.cli.processes import LOOPBACK, LocalServices
from slipway.cli.readiness import NotReadyError, wait_until_ready

_HIGHEST_PORT = 65534
_LOOK_SECONDS = 0.5


@click.command("up", short_help="Run registry, bootstrapper and all provisioners on this machine.")
@click.option(
    "--port", default=9440, show_default=True, type=click.IntRange(1, _HIGHEST_PORT),
    help="Port of the registry; the bootstrapper has the next one.",
)  # fmt: skip
@click.option(
    "--credentials", type=click.Path(path_type=Path, file_okay=False), default=None,
    help="Keep each cluster's secrets here. Default: a temporary directory, gone at the end.",
)  # fmt: skip
@click.option(
    "--profiles", default=None, type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Directory with OS profiles of your own.",
)  # fmt: skip
@output_option("How to print what runs, once it is ready.")
@reported
def up(port: int, credentials: Path | None, profiles: Path | None, output: str) -> None:
    """Run everything on this machine, each service a process of its own on a loopback address without TLS.

    It runs until Ctrl-C, or until a service ends. For a try: a cluster runs the services from deploy/.

    \b
    Examples:
      slipway up
      slipway up --port 9600 --credentials ~/.slipway -o json

    \b
    Exit codes:
      0  it was ended by Ctrl-C or SIGTERM
      1  a service did not start, or ended
      2  usage error
    """  # noqa: D301  # click's mark for lines that stay
    asyncio.run(_up(port, credentials, profiles, output))


async def _up(port: int, credentials: Path | None, profiles: Path | None, output: str) -> None:
    with tempfile.TemporaryDirectory(prefix="slipway-") as scratch:
        services = LocalServices(
            logs=Path(scratch) / "logs",
            credentials=credentials or Path(scratch) / "credentials",
            registry=f"{LOOPBACK}:{port}",
            bootstrapper=f"{LOOPBACK}:{port + 1}",
            profiles=profiles,
        )
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stop.set)
        try:
            _check_free(services.registry, services.bootstrapper)
            await services.start()
            ready = asyncio.create_task(wait_until_ready(services))
            stopped = asyncio.create_task(stop.wait())
            await asyncio.wait({ready, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                ready.cancel()
                return
            await ready
            _show(services, output)
            while not stop.is_set():
                await asyncio.wait({stopped}, timeout=_LOOK_SECONDS)
                _check(services)
        except NotReadyError as error:
            note(str(error))
            for name in services.dead():
                for line in services.last_words(name):
                    note(f"  {name}: {line}")
            raise SystemExit(FAILED) from None
        finally:
            await services.stop()


def _check_free(*addresses: str) -> None:
    """Raise NotReadyError when the port is in use: another process would answer in place of what is started."""
    for address in addresses:
        host, _, port = address.rpartition(":")
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, int(port)))
            except OSError:
                raise NotReadyError(f"{address} is in use: choose another --port") from None


def _check(services: LocalServices) -> None:
    """Raise NotReadyError when a service has ended by itself."""
    dead = services.dead()
    if dead:
        raise NotReadyError(f"{', '.join(dead)} ended")


def _show(services: LocalServices, output: str) -> None:
    trees = [
        {"service": process.name, "address": process.address, "pid": process.handle.pid}
        for process in services.processes.values()
    ]
    if output != "table":
        emit(trees, output)
        return
    rows = [[str(value) for value in tree.values()] for tree in trees]
    show(table("everything is up", ["service", "address", "pid"], rows))
    flags = f"--insecure --server {services.bootstrapper} --registry {services.registry}"
    say(f"try: slipway render -f FILE --provisioner all {flags}", "Ctrl-C ends it")
