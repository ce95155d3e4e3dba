"""Waits until services that were started can be used."""

import asyncio
from collections.abc import Callable

from slipway.cli.options import Connection
from slipway.cli.processes import PROVISIONERS, LocalServices
from slipway.cli.remote import RemoteBackend, ServerUnreachableError
from slipway.contract.errors import SlipwayError
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

DEADLINE_SECONDS = 30.0
_PAUSE_SECONDS = 0.05


class NotReadyError(Exception):
    """A service ended, or was not ready in time; the text names it."""


def local_connection(services: LocalServices) -> Connection:
    """Give the connection to services of this machine."""
    return Connection(services.bootstrapper, services.registry, None, insecure=True, credentials=None, profiles=None)


async def wait_until_ready(
    services: LocalServices,
    *,
    names: int = len(PROVISIONERS),
    progress: Callable[[int], None] = lambda _: None,
) -> float:
    """Wait until the registry lists so many ready provisioners and the bootstrapper answers; give the seconds.

    Raises:
        NotReadyError: a process has ended, or 30 seconds have passed.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    backend = RemoteBackend(local_connection(services))
    try:
        while loop.time() - started < DEADLINE_SECONDS:
            dead = services.dead()
            if dead:
                raise NotReadyError(f"{', '.join(dead)} ended")
            ready = await _ready(backend)
            progress(ready)
            if ready >= names and await _answers(backend):
                return loop.time() - started
            await asyncio.sleep(_PAUSE_SECONDS)
    finally:
        await backend.close()
    raise NotReadyError(f"not all services were ready within {DEADLINE_SECONDS:.0f} seconds")


async def _ready(backend: RemoteBackend) -> int:
    try:
        instances = await backend.provisioners()
    except (SlipwayError, ServerUnreachableError):
        return 0
    return len({instance.info.name for instance in instances if instance.state == registrypb.INSTANCE_STATE_READY})


async def _answers(backend: RemoteBackend) -> bool:
    """The bootstrapper is up when it refuses an empty question, and has the list when explain knows the formats."""
    try:
        await backend.explain(bootstrappb.ExplainRequest())
    except SlipwayError as error:
        return error.reason == "SPEC_INVALID"
    except ServerUnreachableError:
        return False
    return True
