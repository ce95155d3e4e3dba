"""A tiny service over real loopback sockets, for the tests of everything that surrounds a service."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import grpc
import pytest

from slipway.contract.errors import BundleInvalid
from slipway.rpc import Channel, ServicerContext
from slipway.rpc.channel import ChannelPool
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings

SERVICE = "slipway.test.Service"


class Probe:
    """The service's methods; bytes in, bytes out."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.release = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.failure: Exception = BundleInvalid("x")
        self.seen: dict[str, str] = {}

    async def echo(self, request: bytes, context: ServicerContext) -> bytes:
        self.seen = {k: v for k, v in context.invocation_metadata() or () if isinstance(v, str)}
        return request

    async def fail(self, request: bytes, context: ServicerContext) -> bytes:
        raise self.failure

    async def abort(self, request: bytes, context: ServicerContext) -> bytes:
        await context.abort(grpc.StatusCode.OUT_OF_RANGE, "own abort")

    async def wait(self, request: bytes, context: ServicerContext) -> bytes:
        self.entered.set()
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return request

    async def count(self, request: bytes, context: ServicerContext) -> AsyncIterator[bytes]:
        try:
            for index in range(int(request)):
                yield b"%d" % index
            self.entered.set()
            await self.release.wait()
            raise self.failure
        except asyncio.CancelledError:
            self.cancelled.set()
            raise

    def service(self) -> Service:
        handlers = {
            "Echo": grpc.unary_unary_rpc_method_handler(self.echo),
            "Fail": grpc.unary_unary_rpc_method_handler(self.fail),
            "Abort": grpc.unary_unary_rpc_method_handler(self.abort),
            "Wait": grpc.unary_unary_rpc_method_handler(self.wait),
            "Count": grpc.unary_stream_rpc_method_handler(self.count),
        }
        generic = grpc.method_handlers_generic_handler(SERVICE, handlers)
        return Service(SERVICE, lambda server: server.add_generic_rpc_handlers((generic,)))


def unary(channel: Channel, method: str) -> Any:
    """A callable for a method of the service; bytes in, bytes out."""
    return channel.unary_unary(f"/{SERVICE}/{method}")


def settings(**more: Any) -> ServerSettings:
    """Settings of a plain server on a free loopback port."""
    return ServerSettings(**({"listen_address": "127.0.0.1:0", "insecure": True} | more))


Running = Callable[..., AbstractAsyncContextManager[tuple[RpcServer, Channel]]]


@pytest.fixture
def probe() -> Probe:
    return Probe()


@pytest.fixture
def running(probe: Probe) -> Running:
    """Run a server with the probe on it and give it with a channel that does not retry."""

    @asynccontextmanager
    async def run(given: ServerSettings | None = None, **more: Any) -> AsyncIterator[tuple[RpcServer, Channel]]:
        chosen = given or settings()
        server = RpcServer(chosen, [probe.service()], **more)
        pool = ChannelPool.of(chosen)
        await server.start()
        await server.health.set_all(serving=True)
        try:
            yield server, pool.get(f"127.0.0.1:{server.port}", retries=False)
        finally:
            await pool.close()
            await server.stop(grace=0)

    return run
