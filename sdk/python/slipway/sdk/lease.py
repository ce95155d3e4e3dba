"""A provisioner's side of the registry: register, renew, register again, go on whatever happens."""

import asyncio
import contextlib
import random
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import structlog

from slipway.contract.errors import LeaseNotFound, SlipwayError
from slipway.contract.roles import REGISTRY
from slipway.rpc.backoff import Backoff
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.tls import TlsFilesError
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub

if TYPE_CHECKING:
    from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceAsyncStub

_REGISTER_SECONDS = 6.0
_CALL_SECONDS = 2.0
_JITTER = 0.2
_log = structlog.get_logger("slipway.registry")


class LeaseKeeper:
    """Keeps one instance listed. ``start`` when the server serves, ``stop`` when it is about to end.

    Attributes:
        registered: set while the instance holds a lease, as far as it knows.
        instance_id: id of this process.
    """

    def __init__(
        self,
        channels: ChannelPool,
        registry: str,
        *,
        name: str,
        endpoint: str,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Announce ``name`` at ``endpoint`` to the registry at that address."""
        self.instance_id = uuid.uuid4().hex
        self.registered = asyncio.Event()
        self._channels = channels
        self._registry = registry
        self._announcement = registrypb.RegisterRequest(name=name, instance_id=self.instance_id, endpoint=endpoint)
        self._sleep = sleep
        self._lease_id = ""
        self._task: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[registrypb.RegisterResponse] | None = None

    def start(self) -> None:
        """Keep the lease from now on, in the background."""
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """End the lease. A registry that cannot be reached is no error: the lease ends by itself."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        await self._hear_the_answer()
        self.registered.clear()
        if self._lease_id:
            with contextlib.suppress(SlipwayError, TlsFilesError):
                request = registrypb.DeregisterRequest(lease_id=self._lease_id)
                await invoke(self._stub().Deregister, request, timeout=_CALL_SECONDS)

    async def _run(self) -> None:
        backoff = Backoff()
        while True:
            try:
                pause = await self._register()
                backoff.reset()
                await self._renew_while_held(pause)
            except (SlipwayError, TlsFilesError) as error:
                ours = error if isinstance(error, SlipwayError) else None
                seconds = backoff.next(urgent=ours is None or ours.retryable)
                _log.warning(
                    "not registered, retrying",
                    code=ours.code.name if ours else None,
                    reason=ours.reason if ours else type(error).__name__,
                    field=[violation.path for violation in ours.violations] if ours else None,
                    seconds=round(seconds, 1),
                )
                await self._sleep(seconds)

    async def _hear_the_answer(self) -> None:
        """Wait for a registration that is under way: what it grants has to be given back."""
        if self._asking is None or self._asking.cancelled():
            return
        with contextlib.suppress(SlipwayError, TlsFilesError, TimeoutError):
            answer = await asyncio.wait_for(self._asking, _CALL_SECONDS)
            self._lease_id = answer.lease_id

    async def _register(self) -> float:
        call = invoke(self._stub().Register, self._announcement, timeout=_REGISTER_SECONDS)
        self._asking = asyncio.ensure_future(call)
        # An end of this keeper does not end the call: its answer may be a lease.
        answer = await asyncio.shield(self._asking)
        self._asking = None
        self._lease_id = answer.lease_id
        self.registered.set()
        _log.info("registered", provisioner=self._announcement.name, instance_id=self.instance_id)
        return answer.renew_after.ToMilliseconds() / 1000

    async def _renew_while_held(self, pause: float) -> None:
        """Return when the registry does not hold the lease any more."""
        backoff = Backoff()
        while True:
            await self._sleep(pause * (1 + _JITTER * random.random()))  # noqa: S311  # spreads load, hides nothing
            try:
                request = registrypb.RenewLeaseRequest(lease_id=self._lease_id)
                answer = await invoke(self._stub().RenewLease, request, timeout=_CALL_SECONDS)
            except LeaseNotFound:
                self.registered.clear()
                return
            except (SlipwayError, TlsFilesError):
                # The registry is away; it is asked often, so that it finds us soon when it is back.
                pause = backoff.next(urgent=True)
                continue
            backoff.reset()
            pause = answer.renew_after.ToMilliseconds() / 1000

    def _stub(self) -> "RegistryServiceAsyncStub":
        return RegistryServiceStub(self._channels.get(self._registry, role=REGISTRY, retries=False))
