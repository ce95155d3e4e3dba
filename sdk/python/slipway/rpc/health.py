"""The standard health service: at the end everything is NOT_SERVING, whatever comes after.

It is our own since that of grpcio-health-checking holds a lock while it writes to a watcher: one that does not read
would stop every change of state, the one at the end too.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.rpc import Channel, ServicerContext
from slipway.rpc.client import invoke

SERVICE = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
_STATES = {
    True: health_pb2.HealthCheckResponse.SERVING,
    False: health_pb2.HealthCheckResponse.NOT_SERVING,
}


class Health:
    """Health of a server ("") and of each of its services."""

    def __init__(self, services: Iterable[str]) -> None:
        self._services = ("", *services)
        self._servicer = HealthServicer()

    def add_to(self, server: grpc.aio.Server) -> None:
        """Serve it; more than one server may serve the same health."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    def add_checks_to(self, server: grpc.aio.Server) -> None:
        """Serve single questions only: a caller that needs no certificate has no stream that stays."""
        health_pb2_grpc.add_HealthServicer_to_server(_ChecksOnly(self._servicer), server)

    async def set(self, service: str, *, serving: bool) -> None:
        """Set one service; without effect after ``end``."""
        self._servicer.set(service, serving=serving)

    async def set_all(self, *, serving: bool) -> None:
        """Set the server and all of its services; without effect after ``end``."""
        for service in self._services:
            await self.set(service, serving=serving)

    async def end(self) -> None:
        """Set everything to NOT_SERVING for good; watchers learn it at once."""
        self._servicer.end()


class HealthServicer(health_pb2_grpc.HealthServicer):  # type: ignore[misc]  # without stubs
    """Answers with the states that it holds."""

    def __init__(self) -> None:
        self._states: dict[str, int] = {}
        self._changed = asyncio.Event()
        self._ended = False

    def set(self, service: str, *, serving: bool) -> None:
        """Set one service; without effect after ``end``."""
        if not self._ended:
            self._states[service] = _STATES[serving]
            self._notify()

    def end(self) -> None:
        """Set every service to NOT_SERVING for good."""
        self._ended = True
        self._states = dict.fromkeys(self._states, _STATES[False])
        self._notify()

    async def Check(self, request: Any, context: ServicerContext) -> Any:  # noqa: N802  # the service's name
        """See health.proto."""
        status = self._states.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "this server has no such service")
        return health_pb2.HealthCheckResponse(status=status)

    async def Watch(  # noqa: N802  # the service's name
        self, request: Any, context: ServicerContext
    ) -> AsyncIterator[Any]:
        """See health.proto. States that pass while one is sent are left out."""
        del context
        last = None
        while True:
            changed = self._changed
            status = self._states.get(request.service, health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)
            if status != last:
                yield health_pb2.HealthCheckResponse(status=status)
                last = status
                continue
            await changed.wait()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class _ChecksOnly(health_pb2_grpc.HealthServicer):  # type: ignore[misc]  # without stubs
    def __init__(self, all_of_it: HealthServicer) -> None:
        self._all_of_it = all_of_it

    async def Check(self, request: Any, context: ServicerContext) -> Any:  # noqa: N802  # the service's name
        return await self._all_of_it.Check(request, context)

    async def Watch(self, request: Any, context: ServicerContext) -> None:  # noqa: N802  # the service's name
        del request
        await context.abort(grpc.StatusCode.UNIMPLEMENTED, "this port answers Check only; watch at the port with TLS")


async def is_serving(channel: Channel, service: str, *, timeout: float) -> bool:  # noqa: ASYNC109  # a call's deadline
    """Ask another server's health of one of its services; ``timeout`` in seconds.

    Raises:
        SlipwayError: it has no health service, does not know the service, or cannot be reached.
    """
    request = health_pb2.HealthCheckRequest(service=service)
    answer = await invoke(health_pb2_grpc.HealthStub(channel).Check, request, timeout=timeout)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
