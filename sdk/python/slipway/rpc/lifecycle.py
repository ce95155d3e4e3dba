"""The life of a server process: start, serve, drain on SIGTERM, end with an honest exit code."""

import asyncio
import gc
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import click
import structlog
from google.protobuf.internal import api_implementation

from slipway.contract.control_characters import escape_controls
from slipway.contract.errors import SlipwayError
from slipway.rpc.error_mapping import describe_exception
from slipway.rpc.file_limit import raise_file_limit
from slipway.rpc.identity import Policy, allow_all
from slipway.rpc.logs import configure_logging
from slipway.rpc.server import RpcServer, ServerStartError, Service
from slipway.rpc.settings import ServerSettings
from slipway.rpc.telemetry import configured_recorders
from slipway.rpc.tls import TlsFilesError

OnStart = Callable[[RpcServer], Awaitable[None]]
OnDrain = Callable[[], Awaitable[None]]

YOUNG_OBJECTS = 10_000
"""New objects after which the youngest generation is collected; 700 by default. They have a megabyte or two."""

_DRAIN_STEP_SECONDS = 5.0
_log = structlog.get_logger("slipway.rpc")


async def serve(  # noqa: PLR0913  # keyword-only knobs of a process
    settings: ServerSettings,
    services: Sequence[Service],
    *,
    name: str,
    policy: Policy = allow_all,
    on_start: Sequence[OnStart] = (),
    on_drain: Sequence[OnDrain] = (),
    stop: asyncio.Event | None = None,
    collectors: Sequence[Any] = (),
    log_keys: Sequence[str] = (),
) -> None:
    """Serve until SIGTERM or SIGINT, then drain and return. Sets up the process's logging.

    With ``stop`` it serves inside a process that is not its own: until that is set; signals and logging stay untouched.

    The order at the end: health NOT_SERVING; ``on_drain`` (deregister; each has 5 s, and none can stop the
    others); time for that to spread, cut short by a second signal; streams end; calls in flight get the grace time.

    Args:
        settings: how to serve.
        services: what to serve.
        name: name of the process in traces.
        policy: who may call what.
        on_start: run when the server serves, in order; a failure ends the process.
        on_drain: run when it is about to end, in order.
        stop: ends it in place of signals.
        collectors: metrics of the service's own, in the shape of prometheus_client's.
        log_keys: keys that its log may have besides those of every server.

    Raises:
        ServerStartError, TlsFilesError: it could not start.
    """
    if stop is None:
        configure_logging(log_format=settings.log_format, level=settings.log_level, extra_keys=log_keys)
    stopping = _signalled() if stop is None else stop
    if api_implementation.Type() != "upb":
        _log.warning("protobuf C library not loaded, calls are many times slower")
    server = RpcServer(
        settings, services, policy=policy, recorders=configured_recorders(settings, service=name, collectors=collectors)
    )
    try:
        await server.start()
        await server.health.set_all(serving=True)
        for step in on_start:
            await step(server)
        if stop is None:
            settle_garbage_collection()
        await stopping.wait()
        stopping.clear()
        _log.info("draining", seconds=settings.propagation_seconds)
        await server.health.end()
        await _drain(on_drain)
        await _wait(stopping, settings.propagation_seconds)
    finally:
        await server.stop(grace=settings.drain_grace_seconds)
    _log.info("stopped")


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a process's coroutine in the one event loop; exit with 1 and one line when it fails, never a traceback."""
    raise_file_limit()
    try:
        asyncio.run(_guarded(main))
    except (ServerStartError, TlsFilesError, SlipwayError, ImportError) as error:
        click.echo(escape_controls(f"Error: {error}"), err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:  # noqa: BLE001  # the text of an unforeseen exception may quote anything
        _log.error("process failed with an internal error", **describe_exception(error))
        sys.exit(1)


async def _guarded(main: Coroutine[Any, Any, None]) -> None:
    asyncio.get_running_loop().set_exception_handler(_log_stray)
    await main


def _log_stray(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    del loop
    error = context.get("exception")
    _log.error("background task failed", **(describe_exception(error) if error else {}))


def _signalled() -> asyncio.Event:
    event = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)
    return event


async def _drain(steps: Sequence[OnDrain]) -> None:
    for step in steps:
        try:
            async with asyncio.timeout(_DRAIN_STEP_SECONDS):
                await step()
        except Exception as error:  # noqa: BLE001  # the end must go on
            _log.warning("draining step failed", **describe_exception(error))


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


def settle_garbage_collection() -> None:
    """Collect rarely, and never what is there now: call it once, when the process has started.

    By default the cyclic garbage collector takes a fifth of the time of large questions. A request makes many objects,
    nearly all of which are freed by their reference counts, and few cycles. What was imported stays until the process
    ends, so that no collection needs to look at it again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, 10, 10)
