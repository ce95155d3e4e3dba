"""The registry put together: registrations, prober and service in one running server."""

import asyncio
import contextlib
import secrets
from typing import TYPE_CHECKING

from slipway.registry.clock import Clock, SystemClock
from slipway.registry.dialback import DialBack
from slipway.registry.prober import Prober
from slipway.registry.registrations import Registrations
from slipway.registry.service import RegistryServicer
from slipway.registry.settings import RegistrySettings
from slipway.registry.static_endpoints import StaticEndpoints
from slipway.registry.store import MemoryStore
from slipway.rpc.channel import ChannelPool
from slipway.rpc.lifecycle import OnStart, serve
from slipway.rpc.server import Service
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import add_RegistryServiceServicer_to_server

if TYPE_CHECKING:
    from slipway.registry.lease_store import LeaseStore

NAME = "slipway-registry"
LOG_KEYS = ("failure", "lease")
"""What its log has besides the keys of every server."""


async def serve_registry(
    settings: RegistrySettings,
    *,
    clock: Clock | None = None,
    on_start: OnStart | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Serve the registry until it is stopped, see ``lifecycle.serve``.

    Raises:
        StaticEndpointsError: the file of static endpoints cannot be used.
    """
    gate = settings.gate
    static = None if settings.static_endpoints is None else StaticEndpoints(settings.static_endpoints, gate)
    clock = clock or SystemClock()
    leases = await _leases(settings, clock)
    registrations = Registrations(
        leases or MemoryStore(epoch=_new_id()), clock, lease_duration=settings.lease_duration, new_id=_new_id
    )
    if leases is not None:
        await leases.open(registrations.notify)
    channels = ChannelPool.of(settings)
    dialler = DialBack(channels, trust_domain=settings.trust_domain, seconds=settings.dial_seconds)
    prober = asyncio.ensure_future(Prober(registrations, dialler, static, seconds=settings.probe_seconds).run())
    service = Service.of(
        registrypb.DESCRIPTOR.services_by_name["RegistryService"],
        add_RegistryServiceServicer_to_server,
        RegistryServicer(registrations, dialler, gate),
    )
    try:
        await serve(
            settings, [service], name=NAME, on_start=[on_start] if on_start else [], stop=stop, log_keys=LOG_KEYS
        )
    finally:
        prober.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await prober
        await channels.close()
        if leases is not None:
            await leases.close()


async def _leases(settings: RegistrySettings, clock: Clock) -> "LeaseStore | None":
    """Give the store on Leases when it is asked for; nothing of Kubernetes is loaded otherwise."""
    if settings.lease_namespace is None:
        return None
    from slipway.kubernetes_api.api import Api  # noqa: PLC0415  # of the Kubernetes client
    from slipway.kubernetes_api.connection import Connection  # noqa: PLC0415  # of the Kubernetes client
    from slipway.registry.lease_store import LeaseStore  # noqa: PLC0415  # of the Kubernetes client

    connection = await Connection.of_process(settings.kubeconfig)
    return LeaseStore(Api(connection), namespace=settings.lease_namespace, ttl=settings.lease_ttl_seconds, clock=clock)


def _new_id() -> str:
    return secrets.token_hex(16)
