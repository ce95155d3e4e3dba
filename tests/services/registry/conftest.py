"""Real provisioner endpoints and a real registry on loopback, with short times; and a clock that tests move."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from slipway.registry.dialback import SERVICE
from slipway.registry.server import serve_registry
from slipway.registry.settings import RegistrySettings
from slipway.rpc import ServicerContext
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.provisioner_service_pb2_grpc import (
    ProvisionerServiceServicer,
    add_ProvisionerServiceServicer_to_server,
)
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub


class FakeClock:
    """Time that passes when told."""

    def __init__(self) -> None:
        self._seconds = 1000.0

    def monotonic(self) -> float:
        return self._seconds

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self._seconds)

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


def info(name: str = "x", version: str = "1.0.0", *features: str) -> provisionerpb.GetProvisionerInfoResponse:
    """A well-formed advertisement."""
    return provisionerpb.GetProvisionerInfoResponse(
        name=name,
        implementation_version=version,
        features_advertised=True,
        formats=[
            provisionerpb.FormatInfo(
                format="cloud-config",
                kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
                os_families=[clusterpb.OS_FAMILY_LINUX],
                features=[provisionerpb.FeatureSupport(id=feature) for feature in features or ("os.files",)],
            )
        ],
    )


class Endpoint(ProvisionerServiceServicer):
    """A provisioner that only says who it is."""

    def __init__(self, advertised: provisionerpb.GetProvisionerInfoResponse) -> None:
        self.advertised = advertised
        self.hang = False
        self.asked = 0
        self.answer = asyncio.Event()
        self.answer.set()
        self.server: RpcServer | None = None

    async def GetProvisionerInfo(self, request: Any, context: ServicerContext) -> Any:  # noqa: N802  # a name of gRPC
        self.asked += 1
        if self.hang:
            await asyncio.Event().wait()
        await self.answer.wait()
        return self.advertised

    async def Render(self, request: Any, context: ServicerContext) -> Any:  # noqa: N802  # a name of gRPC
        return provisionerpb.RenderResponse()

    @property
    def address(self) -> str:
        assert self.server is not None
        return f"127.0.0.1:{self.server.port}"

    async def set_serving(self, *, serving: bool) -> None:
        assert self.server is not None
        await self.server.health.set(SERVICE, serving=serving)


def server_settings(tls: Path | None = None, **more: Any) -> dict[str, Any]:
    """Settings of a server on loopback, with TLS or without."""
    transport = {"insecure": True} if tls is None else {"tls_cert_dir": tls}
    return {"listen_address": "127.0.0.1:0", **transport, **more}


Provisioning = Callable[..., AbstractAsyncContextManager[Endpoint]]


@pytest.fixture
def provisioning() -> Provisioning:
    """Run an endpoint of a provisioner."""

    @asynccontextmanager
    async def run(
        advertised: provisionerpb.GetProvisionerInfoResponse | None = None, *, tls: Path | None = None, port: int = 0
    ) -> AsyncIterator[Endpoint]:
        endpoint = Endpoint(advertised or info())
        service = Service.of(
            provisionerpb.DESCRIPTOR.services_by_name["ProvisionerService"],
            add_ProvisionerServiceServicer_to_server,
            endpoint,
        )
        settings = ServerSettings(**server_settings(tls, listen_address=f"127.0.0.1:{port}"))
        endpoint.server = RpcServer(settings, [service])
        await endpoint.server.start()
        await endpoint.server.health.set_all(serving=True)
        try:
            yield endpoint
        finally:
            await endpoint.server.stop(grace=0)

    return run


class Registry:
    """A running registry and a client of it."""

    def __init__(self, address: str, clock: FakeClock, channels: ChannelPool) -> None:
        self.address = address
        self.clock = clock
        self.channels = channels
        self.stub: Any = RegistryServiceStub(channels.get(address, retries=False))

    async def register(self, endpoint: str, **more: str) -> registrypb.RegisterResponse:
        request = registrypb.RegisterRequest(**({"name": "x", "instance_id": "i1", "endpoint": endpoint} | more))
        return await invoke(self.stub.Register, request, timeout=60)

    async def renew(self, lease: str, *, draining: bool = False) -> registrypb.RenewLeaseResponse:
        request = registrypb.RenewLeaseRequest(lease_id=lease, draining=draining)
        return await invoke(self.stub.RenewLease, request, timeout=60)

    async def deregister(self, lease: str) -> None:
        await invoke(self.stub.Deregister, registrypb.DeregisterRequest(lease_id=lease), timeout=60)

    async def listing(self) -> list[registrypb.ProvisionerInstance]:
        answer = await invoke(self.stub.ListProvisioners, registrypb.ListProvisionersRequest(), timeout=60)
        return list(answer.instances)

    async def states(self) -> list[str]:
        """The state of each instance."""
        return [
            registrypb.InstanceState.Name(one.state).removeprefix("INSTANCE_STATE_") for one in await self.listing()
        ]

    async def until(self, wanted: Callable[[list[str]], bool]) -> list[str]:
        """Wait for states; the test's own time limit bounds it."""
        while not wanted(states := await self.states()):
            await asyncio.wait({asyncio.ensure_future(asyncio.sleep(0.02))})
        return states


Registering = Callable[..., AbstractAsyncContextManager[Registry]]


@pytest.fixture
def registering() -> Registering:
    """Run a registry; ``tls`` is its directory, ``client_tls`` that of the client.

    It waits long for an answer: a busy machine must not make an instance look unreachable.
    """

    @asynccontextmanager
    async def run(
        *, tls: Path | None = None, client_tls: Path | None = None, port: int = 0, **more: Any
    ) -> AsyncIterator[Registry]:
        given = {"probe_seconds": 3600, "dial_seconds": 10, "listen_address": f"127.0.0.1:{port}"} | more
        settings = RegistrySettings(**server_settings(tls, **given))
        clock, stop = FakeClock(), asyncio.Event()
        started: asyncio.Future[RpcServer] = asyncio.get_running_loop().create_future()

        async def on_start(server: RpcServer) -> None:
            started.set_result(server)

        task = asyncio.ensure_future(serve_registry(settings, clock=clock, on_start=on_start, stop=stop))
        await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            await task
        files = client_tls or tls
        channels = ChannelPool(tls=CertificateFiles(files) if files else None, trust_domain="slipway")
        try:
            yield Registry(f"127.0.0.1:{started.result().port}", clock, channels)
        finally:
            await channels.close()
            stop.set()
            await asyncio.wait_for(task, 10)

    return run


async def eventually(condition: Callable[[], Awaitable[bool] | bool]) -> None:
    """Wait until something holds; the test's own time limit bounds it."""
    while True:
        outcome = condition()
        if outcome if isinstance(outcome, bool) else await outcome:
            return
        await asyncio.wait({asyncio.ensure_future(asyncio.sleep(0.02))})
