"""Floods of calls by the holder of a certificate, over many connections."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.contract.errors import SlipwayError
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import stream
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub

CONNECTIONS = 40
CALLS = 1280


async def first(messages: AsyncIterator[Any]) -> str:
    """Read the first message of a stream, and name what came of it."""
    try:
        await anext(messages)
    except SlipwayError as error:
        return error.reason
    return "OK"


class Flood:
    """Calls of one certificate over many connections."""

    def __init__(self, channels: list[Any]) -> None:
        self.channels = channels
        self.open: list[Any] = []

    async def watches(self, number: int) -> Counter[str]:
        """Open watches of the list of provisioners, and count what came of them."""
        request = registrypb.WatchProvisionersRequest()
        streams = [
            stream(RegistryServiceStub(self.channels[index % len(self.channels)]).WatchProvisioners, request)
            for index in range(number)
        ]
        self.open += streams
        return Counter(await asyncio.gather(*map(first, streams)))

    async def silent(self, number: int, method: str) -> None:
        """Open calls whose request never comes."""
        calls = [self.channels[index % len(self.channels)].stream_unary(method)(timeout=60) for index in range(number)]
        self.open += calls
        await asyncio.gather(*(call.wait_for_connection() for call in calls), return_exceptions=True)

    async def health_watches(self, number: int) -> Counter[str]:
        """Open watches of the health."""
        request = health_pb2.HealthCheckRequest()
        streams = [
            stream(health_pb2_grpc.HealthStub(self.channels[index % len(self.channels)]).Watch, request)
            for index in range(number)
        ]
        self.open += streams
        return Counter(await asyncio.gather(*map(first, streams)))

    async def end(self) -> None:
        """End all of them."""
        for call in self.open:
            if hasattr(call, "cancel"):
                call.cancel()
            else:
                await call.aclose()


@asynccontextmanager
async def flooding(address: str, certificates: Path) -> AsyncIterator[Flood]:
    """Make the connections of a flood, and end it."""
    pools = [ChannelPool(tls=CertificateFiles(certificates), trust_domain="slipway") for _ in range(CONNECTIONS)]
    flood = Flood([pool.get(address, retries=False) for pool in pools])
    try:
        yield flood
    finally:
        await flood.end()
        for pool in pools:
            await pool.close()
