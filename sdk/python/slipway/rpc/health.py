"""The standard health service, with one rule added: at the end everything is NOT_SERVING, whatever comes after."""

from collections.abc import Iterable

import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_health.v1.health import aio

from slipway.rpc import Channel
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
        self._servicer = aio.HealthServicer()

    def add_to(self, server: grpc.aio.Server) -> None:
        """Serve it; more than one server may serve the same health."""
        health_pb2_grpc.add_HealthServicer_to_server(self._servicer, server)

    async def set(self, service: str, *, serving: bool) -> None:
        """Set one service; without effect after ``end``."""
        await self._servicer.set(service, _STATES[serving])

    async def set_all(self, *, serving: bool) -> None:
        """Set the server and all of its services; without effect after ``end``."""
        for service in self._services:
            await self.set(service, serving=serving)

    async def end(self) -> None:
        """Set everything to NOT_SERVING for good; watchers learn it at once."""
        await self._servicer.enter_graceful_shutdown()


async def is_serving(channel: Channel, service: str, *, timeout: float) -> bool:  # noqa: ASYNC109  # a call's deadline
    """Ask another server's health of one of its services; ``timeout`` in seconds.

    Raises:
        SlipwayError: it has no health service, does not know the service, or cannot be reached.
    """
    request = health_pb2.HealthCheckRequest(service=service)
    answer = await invoke(health_pb2_grpc.HealthStub(channel).Check, request, timeout=timeout)
    return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
