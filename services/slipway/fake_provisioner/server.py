"""The server: a sound provisioner, between whose answers and the wire the script stands."""

import asyncio
import itertools
import os
import signal
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.contract.errors import ForeignStatus
from slipway.contract.status import Failure
from slipway.fake_provisioner import faults
from slipway.fake_provisioner.script import Fault, Registration, Script, Step, step_for
from slipway.fake_provisioner.sound import Sound
from slipway.rpc import ServicerContext
from slipway.rpc.channel import ChannelPool
from slipway.rpc.health import Health
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings
from slipway.sdk import ProvisionerCore
from slipway.sdk.lease import LeaseKeeper
from slipway.sdk.server import SERVICE
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioner_service_pb2_grpc as provisionergrpc
from slipway.v1alpha1.reasons import Code

DEATH = 70
"""Exit code of a process that the script lets die in mid-call."""

_log = structlog.get_logger("slipway.fake_provisioner")


class Steps:
    """Counts the calls of one method, says what becomes of each, and lets it wait, hang, die or fail."""

    def __init__(self, call: str, steps: Sequence[Step]) -> None:
        """Follow these steps for a method."""
        self._call = call
        self._steps = steps
        self._numbers = itertools.count(1)

    async def next(self) -> Step:
        """Take the next call; give its step when it is to be answered.

        Raises:
            ForeignStatus: it is to fail.
        """
        number = next(self._numbers)
        step = step_for(self._steps, number)
        _log.info("call", call=self._call, number=number, fault=step.fault.value)
        await asyncio.sleep(step.after)
        if step.fault is Fault.HANG:
            await asyncio.Event().wait()
        if step.fault is Fault.DIE:
            os._exit(DEATH)
        if step.fault is Fault.STATUS:
            raise faults.status(step)
        return step


class FakeServicer:
    """The two calls of the contract."""

    def __init__(self, core: ProvisionerCore, script: Script) -> None:
        """Serve a core as the script says."""
        self._core = core
        self._renders = Steps("Render", script.render)
        self._infos = Steps("GetProvisionerInfo", script.info)

    async def GetProvisionerInfo(  # noqa: N802  # the contract's name
        self, request: provisionerpb.GetProvisionerInfoRequest, context: ServicerContext
    ) -> provisionerpb.GetProvisionerInfoResponse:
        """Say who it is, or something else."""
        del request, context
        return faults.spoil_info(self._core.info, await self._infos.next())

    async def Render(  # noqa: N802  # the contract's name
        self, request: provisionerpb.RenderRequest, context: ServicerContext
    ) -> provisionerpb.RenderResponse:
        """Render, or not."""
        del context
        step = await self._renders.next()
        if step.fault is Fault.REFUSES:
            faults.refuse(request.bundle, step.feature)
        if step.fault is Fault.LEAVES_OUT:
            request.bundle.CopyFrom(faults.without(request.bundle, step.feature))
        return faults.spoil(await self._core.render(request), step, now=datetime.now(UTC))


class FakeHealth(Health):
    """Health that follows the script, until it ends: then it tells the truth."""

    def __init__(self, services: Sequence[str], steps: Sequence[Step]) -> None:
        """Serve health of these services."""
        super().__init__(services)
        self._steps = Steps("Check", steps)

    def add_to(self, server: Any) -> None:
        """Serve it."""
        health_pb2_grpc.add_HealthServicer_to_server(_HealthServicer(self._servicer, self._steps), server)


class _HealthServicer(health_pb2_grpc.HealthServicer):  # type: ignore[misc]  # without stubs
    def __init__(self, true: Any, steps: Steps) -> None:
        self._true = true
        self._steps = steps

    async def Check(self, request: Any, context: ServicerContext) -> Any:  # noqa: N802  # the service's name
        step = await self._steps.next()
        if step.fault is Fault.UNKNOWN_SERVICE:
            raise ForeignStatus(Failure(code=int(Code.NOT_FOUND), message="the script knows no such service"))
        if step.fault is Fault.NOT_SERVING:
            return health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)
        return await self._true.Check(request, context)


class FakeAnnouncement:
    """The leases that the script wants held."""

    def __init__(self, settings: ServerSettings, script: Script) -> None:
        """Announce what the script says, where there is a registry."""
        self._settings = settings
        self._script = script
        self._channels = ChannelPool.of(settings)
        self._keepers: list[LeaseKeeper] = []

    def begin(self, address: str) -> None:
        """Announce."""
        how = self._script.registration
        registry = self._settings.registry_address
        for _ in range(how.instances if how.announce and registry else 0):
            self._keepers.append(self._keeper(how, registry or "", address))
            self._keepers[-1].start()

    def _keeper(self, how: Registration, registry: str, address: str) -> LeaseKeeper:
        async def sleep(seconds: float) -> None:
            if keeper.registered.is_set() and not how.renew:
                await asyncio.Event().wait()
            await asyncio.sleep(seconds)

        name, endpoint = how.name or self._script.name, how.endpoint or address
        keeper = LeaseKeeper(self._channels, registry, name=name, endpoint=endpoint, sleep=sleep)
        return keeper

    async def end(self) -> None:
        """Give the leases back, if the script wants that."""
        if self._script.registration.deregister:
            for keeper in self._keepers:
                await keeper.stop()
        await self._channels.close()


async def serve(settings: ServerSettings, script: Script) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ServerStartError, TlsFilesError: it could not start.
    """
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    servicer = FakeServicer(ProvisionerCore(Sound(script)), script)
    service = Service.of(SERVICE, provisionergrpc.add_ProvisionerServiceServicer_to_server, servicer)
    server = RpcServer(settings, [service])
    server.health = FakeHealth([service.name], script.health)
    announcement = FakeAnnouncement(settings, script)
    try:
        await server.start()
        await server.health.set_all(serving=True)
        announcement.begin(server.address)
        await stopping.wait()
        await announcement.end()
    finally:
        await server.stop(grace=settings.drain_grace_seconds)
