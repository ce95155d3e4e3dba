"""Mutants that live with the registry in other ways."""

import asyncio
import random
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import grpc.aio

from slipway.conformance.launcher import Setup
from slipway.conformance.subject import SERVICE
from slipway.contract.errors import LeaseNotFound, SlipwayError
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub
from tests.services.conformance.bent import NOT_SERVING, Bent, Life, Request
from tests.services.conformance.mutants.living import living, read
from tests.services.conformance.mutants.mutant import Mutant


class _Keeping(Life):
    """Another keeper of the lease."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make

    def keeper(self, channels: ChannelPool, setup: Setup, *, name: str) -> Any:
        return self._make(channels, str(setup.registry), name=name, endpoint=str(setup.listen))


class Loop:
    """A lease keeper in its simplest form, which mutants change."""

    renew_seconds: float | None = None
    pause_seconds = 0.3
    again_seconds = 0.0
    instance = ""
    announced: str | None = None
    endpoint_: str | None = None
    gives_up = False
    deregisters = True
    follows = True
    hasty = False
    begins_anew = False
    insists = False

    def __init__(self, channels: ChannelPool, registry: str, *, name: str, endpoint: str) -> None:
        self._stub = RegistryServiceStub(channels.get(registry, retries=False))
        self._request = registrypb.RegisterRequest(
            name=self.announced or name,
            instance_id=self.instance or f"id-{random.random()}",
            endpoint=self.endpoint_ or endpoint,
        )
        self._lease = ""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
        if self._lease and self.deregisters:
            await self._farewell(registrypb.DeregisterRequest(lease_id=self._lease))

    async def _farewell(self, request: registrypb.DeregisterRequest) -> None:
        while True:
            try:
                await invoke(self._stub.Deregister, request, timeout=2)
            except SlipwayError:
                if not self.insists:
                    raise
                await asyncio.sleep(self.pause_seconds)
            else:
                return

    async def _run(self) -> None:
        while True:
            try:
                answer = await invoke(self._stub.Register, self._request, timeout=6)
            except SlipwayError:
                if self.gives_up:
                    return
                await asyncio.sleep(self.pause_seconds)
                continue
            self._lease = answer.lease_id
            seconds = self.renew_seconds or answer.renew_after.ToMilliseconds() / 1000
            if not await self._renew(seconds):
                return
            await asyncio.sleep(self.again_seconds)

    async def _renew(self, seconds: float) -> bool:
        while True:
            await asyncio.sleep(seconds)
            try:
                request = registrypb.RenewLeaseRequest(lease_id=self._lease)
                answer = await invoke(self._stub.RenewLease, request, timeout=2)
                if self.follows and self.renew_seconds is None:
                    seconds = answer.renew_after.ToMilliseconds() / 1000
            except LeaseNotFound:
                return True
            except SlipwayError:
                if self.gives_up:
                    return False
                if self.begins_anew:
                    return True
                seconds = 0.1 if self.hasty else seconds


def _loop(**changes: Any) -> Bent:
    return living(_Keeping(type("Mutated", (Loop,), changes)))


class _TooEarly(Life):
    """Announces itself before it serves."""

    async def before_server(self, keeper: Any) -> None:
        keeper.start()
        await asyncio.sleep(0.3)


class _Fragile(Life):
    """Ends when the registry is away."""

    async def before_server(self, keeper: Any) -> None:
        await invoke(keeper._stub().Register, keeper._announcement, timeout=2)


class _HealthLast(Life):
    """Gives the lease back while it still says that it serves."""

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        if keeper is not None:
            await keeper.stop()
        await health.enter_graceful_shutdown()
        await server.stop(10)
        return 0


class _HalfHealth(Life):
    """Says of its service that it ends, and of itself that it serves."""

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        await health.set(SERVICE, NOT_SERVING)
        await keeper.stop()
        await server.stop(10)
        return 0


class _Talkative(Life):
    """Registers once more after it has given the lease back."""

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        await health.enter_graceful_shutdown()
        await keeper.stop()
        await asyncio.sleep(0.3)
        await invoke(keeper._stub().Register, keeper._announcement, timeout=2)
        await server.stop(10)
        return 0


class _Abrupt(Life):
    """Drops what is in flight."""

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        await server.stop(0)
        return 0


async def _taking_its_time(_request: Request, _context: Any) -> None:
    await asyncio.sleep(0.2)


class _Trusting(Life):
    """Trusts whatever certificate the registry shows."""

    def keeper(self, channels: ChannelPool, setup: Setup, *, name: str) -> Any:
        host, _, port = str(setup.registry).rpartition(":")
        shown = ssl.get_server_certificate((host, int(port))).encode()
        chain, key, _ = read(Path(str(setup.tls_cert_dir)))
        credentials = grpc.ssl_channel_credentials(shown, key, chain)

        class OneChannel:
            def get(self, target: str, **_: Any) -> grpc.aio.Channel:
                return grpc.aio.secure_channel(target, credentials)

        return Loop(OneChannel(), str(setup.registry), name=name, endpoint=str(setup.listen))


class _AnyRole(Life):
    """Compares the registry's certificate with its host, and not with its role."""

    def keeper(self, channels: ChannelPool, setup: Setup, *, name: str) -> Any:
        chain, key, authority = read(Path(str(setup.tls_cert_dir)))
        credentials = grpc.ssl_channel_credentials(authority, key, chain)

        class OneChannel:
            def get(self, target: str, **_: Any) -> grpc.aio.Channel:
                return grpc.aio.secure_channel(target, credentials)

        return Loop(OneChannel(), str(setup.registry), name=name, endpoint=str(setup.listen))


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("any registry is trusted", ("REG-015.foreign-registry",), living(_Trusting()), secure=True)
    yield Mutant("a registry of any role", ("REG-015.registry-of-another-role",), living(_AnyRole()), secure=True)
    yield Mutant("another name for the registry", ("REG-001.announcement",), _loop(announced="somebody-else"))
    yield Mutant("an endpoint at which nobody is", ("REG-001.announcement",), _loop(endpoint_="127.0.0.1:1"))
    yield Mutant("an announcement before it serves", ("REG-002.serves-before",), living(_TooEarly()))
    yield Mutant("one id for all processes", ("REG-003.instance-id",), _loop(instance="the-one"))
    yield Mutant("renewals that come too late", ("REG-004.renewal",), _loop(renew_seconds=30.0))
    yield Mutant("renewals all the time", ("REG-004.renewal",), _loop(renew_seconds=0.1))
    yield Mutant("the first word on renewals", ("REG-005.newest-answer",), _loop(follows=False))
    yield Mutant("a long thought after NOT_FOUND", ("REG-006.not-found",), _loop(again_seconds=30.0))
    yield Mutant("a registry that went away is given up", ("REG-007.registry-restart",), _loop(gives_up=True))
    yield Mutant("a storm of registrations", ("REG-008.backs-off",), _loop(pause_seconds=0.1))
    yield Mutant("a storm of renewals", ("REG-008.renews-on",), _loop(hasty=True))
    yield Mutant("a new lease for one that was not lost", ("REG-008.renews-on",), _loop(begins_anew=True))
    yield Mutant("one registration and no more", ("REG-008.backs-off",), _loop(gives_up=True))
    yield Mutant("no registry, no service", ("REG-009.registry-away",), living(_Fragile()))
    yield Mutant("a lease that is not given back", ("REG-010.deregisters",), _loop(deregisters=False))
    yield Mutant("health that ends too late", ("REG-010.deregisters",), living(_HealthLast()))
    yield Mutant("health that ends by halves", ("REG-010.deregisters",), living(_HalfHealth()))
    yield Mutant("no end without a farewell", ("REG-010.farewell-to-nobody",), _loop(insists=True))
    yield Mutant("a farewell that fails is an error", ("REG-010.farewell-to-nobody",), _loop())
    yield Mutant("words after the farewell", ("REG-010.deregisters",), living(_Talkative()))
    yield Mutant("calls that are dropped", ("REG-011.in-flight",), Bent(process=_Abrupt(), before=_taking_its_time))
