"""A provisioner as a gRPC service: the servicer, and the life of its process.

The core answers; this only carries its answers. Errors of the core become a gRPC status in the server's own stage.
"""

import asyncio
from collections.abc import Sequence

from slipway.rpc import ServicerContext, lifecycle
from slipway.rpc.channel import ChannelPool
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings
from slipway.sdk.core import ProvisionerCore
from slipway.sdk.lease import LeaseKeeper
from slipway.sdk.provisioner import Provisioner
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioner_service_pb2_grpc as provisionergrpc

SERVICE = provisionerpb.DESCRIPTOR.services_by_name["ProvisionerService"]


class ProvisionerServicer:
    """The two calls of the contract, on a core."""

    def __init__(self, core: ProvisionerCore) -> None:
        """Serve a core."""
        self._core = core

    async def GetProvisionerInfo(  # noqa: N802  # the contract's name
        self, request: provisionerpb.GetProvisionerInfoRequest, context: ServicerContext
    ) -> provisionerpb.GetProvisionerInfoResponse:
        """Say who the provisioner is and what it can do."""
        del context
        return await self._core.get_info(request)

    async def Render(  # noqa: N802  # the contract's name
        self, request: provisionerpb.RenderRequest, context: ServicerContext
    ) -> provisionerpb.RenderResponse:
        """Turn a bundle into user data."""
        del context
        return await self._core.render(request)


def service(core: ProvisionerCore) -> Service:
    """Give the service, ready to be added to a server."""
    return Service.of(SERVICE, provisionergrpc.add_ProvisionerServiceServicer_to_server, ProvisionerServicer(core))


class Announcement:
    """The lease of a server that serves; without a registry, nothing."""

    def __init__(self, settings: ServerSettings, *, name: str) -> None:
        """Announce the provisioner `name` to the registry of these settings."""
        self._registry = settings.registry_address
        self._channels = ChannelPool.of(settings)
        self._name = name
        self._keeper: LeaseKeeper | None = None

    async def begin(self, server: RpcServer) -> None:
        """Keep a lease from now on. A registry that is away is asked again."""
        if self._registry is not None:
            self._keeper = LeaseKeeper(self._channels, self._registry, name=self._name, endpoint=server.address)
            self._keeper.start()

    async def held(self) -> None:
        """Wait until the registry has granted the lease; at once without a registry."""
        if self._keeper is not None:
            await self._keeper.registered.wait()

    async def end(self) -> None:
        """Give the lease back."""
        if self._keeper is not None:
            await self._keeper.stop()
        await self._channels.close()


async def serve(settings: ServerSettings, provisioner: Provisioner, *, stop: asyncio.Event | None = None) -> None:
    """Serve a provisioner until a signal stops it, registered as long as it serves.

    Raises:
        ServerStartError, TlsFilesError: it could not start.
    """
    await serve_core(settings, ProvisionerCore(provisioner), stop=stop)


async def serve_core(
    settings: ServerSettings,
    core: ProvisionerCore,
    *,
    stop: asyncio.Event | None = None,
    log_keys: Sequence[str] = (),
) -> None:
    """Serve a core, as `serve` does; its log may have `log_keys` besides the keys of every server.

    Raises:
        ServerStartError, TlsFilesError: it could not start.
    """
    announcement = Announcement(settings, name=core.info.name)
    await lifecycle.serve(
        settings,
        [service(core)],
        name=f"provisioner-{core.info.name}",
        on_start=[announcement.begin],
        on_drain=[announcement.end],
        stop=stop,
        log_keys=log_keys,
    )
