"""The bootstrapper's side of the registry: the list of instances, followed, and kept while the registry is away."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence

import structlog

from slipway.contract.errors import SlipwayError
from slipway.contract.roles import REGISTRY
from slipway.rpc.backoff import Backoff
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import stream
from slipway.rpc.tls import TlsFilesError
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub

REMEMBER_SECONDS = 30.0
"""After a registry lost its memory, its former list fills the gaps for so long: provisioners are back sooner."""

_log = structlog.get_logger("slipway.registry")


class ProvisionerDirectory:
    """The last known list. Reading it never waits.

    Attributes:
        loaded: set when a registry has answered for the first time.
    """

    def __init__(
        self,
        channels: ChannelPool,
        registry: str,
        *,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Follow the registry at that address."""
        self.loaded = asyncio.Event()
        self._channels = channels
        self._registry = registry
        self._monotonic = monotonic
        self._sleep = sleep
        self._epoch = ""
        self._instances: list[registrypb.ProvisionerInstance] = []
        self._former: list[registrypb.ProvisionerInstance] = []
        self._former_until = 0.0
        self._listeners: list[Callable[[], None]] = []
        self._task: asyncio.Task[None] | None = None

    def listen(self, listener: Callable[[], None]) -> None:
        """Give a sign each time that the registry has sent anything new."""
        self._listeners.append(listener)

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give all instances as last sent, the expired ones too."""
        if self._former and self._monotonic() >= self._former_until:
            self._former = []
        known = {instance.endpoint for instance in self._instances}
        return [*self._instances, *(entry for entry in self._former if entry.endpoint not in known)]

    def start(self) -> None:
        """Follow the registry from now on, in the background."""
        self._task = asyncio.ensure_future(self._run())

    async def stop(self) -> None:
        """Follow it no longer; the list stays."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        backoff = Backoff()
        while True:
            try:
                stub = RegistryServiceStub(self._channels.get(self._registry, role=REGISTRY, retries=False))
                async for answer in stream(stub.WatchProvisioners, registrypb.WatchProvisionersRequest()):
                    backoff.reset()
                    self._take(answer)
            except (SlipwayError, TlsFilesError) as error:
                reason = error.reason if isinstance(error, SlipwayError) else type(error).__name__
                _log.warning(
                    "registry unavailable, last list of instances kept", reason=reason, count=len(self._instances)
                )
            await self._sleep(backoff.next(urgent=True))

    def _take(self, answer: registrypb.WatchProvisionersResponse) -> None:
        if self._epoch and answer.registry_epoch != self._epoch:
            self._former = [*self.instances()]
            self._former_until = self._monotonic() + REMEMBER_SECONDS
        self._epoch = answer.registry_epoch
        self._instances = list(answer.instances)
        self.loaded.set()
        for listener in self._listeners:
            listener()
