"""RegistryService: the registrations behind gRPC."""

import asyncio
from collections.abc import AsyncIterator

import structlog
from google.protobuf.duration_pb2 import Duration

from slipway.contract.errors import CapabilitiesDisagree, SlipwayError
from slipway.registry.announcement import Gate
from slipway.registry.dialback import Dialler, Finding
from slipway.registry.instance import Instance
from slipway.registry.registrations import Registrations
from slipway.rpc import ServicerContext
from slipway.rpc.identity import identity_of
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceServicer

_AT_ONCE = 16
_log = structlog.get_logger("slipway.registry")


class RegistryServicer(RegistryServiceServicer):
    """Answers the five calls."""

    def __init__(self, registrations: Registrations, dialler: Dialler, gate: Gate) -> None:
        """Serve these registrations to whom the gate lets in."""
        self._registrations = registrations
        self._dialler = dialler
        self._gate = gate

    async def Register(  # noqa: N802  # the name is the contract's
        self, request: registrypb.RegisterRequest, context: ServicerContext
    ) -> registrypb.RegisterResponse:
        """See registry_service.proto."""
        self._gate.check(request, identity_of(context))
        holders = self._registrations.holders(
            name=request.name, instance_id=request.instance_id, endpoint=request.endpoint
        )
        finding = await self._dialler.dial(name=request.name, endpoint=request.endpoint)
        try:
            instance = self._registrations.register(request, finding, holders=holders)
        except CapabilitiesDisagree:
            # A restarted instance at another address must not wait until the lease of its former process has ended.
            await self._dial_others(finding)
            instance = self._registrations.register(request, finding, holders=holders)
        _log.info(
            "provisioner registered",
            provisioner=instance.name,
            version=instance.info.implementation_version,
            instance_id=instance.instance_id,
            endpoint=instance.endpoint,
        )
        return registrypb.RegisterResponse(
            lease_id=instance.lease_id,
            ttl=_duration(self._registrations.lease_duration.ttl),
            renew_after=_duration(self._registrations.lease_duration.renew_after),
            registry_epoch=self._registrations.epoch,
        )

    async def RenewLease(  # noqa: N802  # the name is the contract's
        self, request: registrypb.RenewLeaseRequest, context: ServicerContext
    ) -> registrypb.RenewLeaseResponse:
        """See registry_service.proto."""
        self._check_owner(request.lease_id, context)
        self._registrations.renew(request.lease_id, draining=request.draining)
        return registrypb.RenewLeaseResponse(
            ttl=_duration(self._registrations.lease_duration.ttl),
            renew_after=_duration(self._registrations.lease_duration.renew_after),
            registry_epoch=self._registrations.epoch,
        )

    async def Deregister(  # noqa: N802  # the name is the contract's
        self, request: registrypb.DeregisterRequest, context: ServicerContext
    ) -> registrypb.DeregisterResponse:
        """See registry_service.proto."""
        self._check_owner(request.lease_id, context)
        self._registrations.deregister(request.lease_id)
        return registrypb.DeregisterResponse()

    async def ListProvisioners(  # noqa: N802  # the name is the contract's
        self, request: registrypb.ListProvisionersRequest, context: ServicerContext
    ) -> registrypb.ListProvisionersResponse:
        """See registry_service.proto."""
        del request, context
        self._registrations.sweep()
        return registrypb.ListProvisionersResponse(
            instances=self._instances(), registry_epoch=self._registrations.epoch
        )

    async def WatchProvisioners(  # noqa: N802  # the name is the contract's
        self, request: registrypb.WatchProvisionersRequest, context: ServicerContext
    ) -> AsyncIterator[registrypb.WatchProvisionersResponse]:
        """See registry_service.proto. Changes that come while one is sent are sent together."""
        del request, context
        while True:
            change = self._registrations.change()
            yield registrypb.WatchProvisionersResponse(
                instances=self._instances(), registry_epoch=self._registrations.epoch
            )
            await change.wait()

    async def _dial_others(self, finding: Finding) -> None:
        """Dial the instances that advertise something else: one of them may be gone without a farewell."""
        others = self._registrations.others(finding.info)[:_AT_ONCE]
        await asyncio.gather(*(self._dial(other) for other in others))

    async def _dial(self, instance: Instance) -> None:
        outcome: Finding | SlipwayError
        try:
            outcome = await self._dialler.dial(name=instance.name, endpoint=instance.endpoint)
        except SlipwayError as error:
            outcome = error
        self._registrations.observe(instance, outcome)

    def _instances(self) -> list[registrypb.ProvisionerInstance]:
        return [instance.to_message() for instance in self._registrations.snapshot()]

    def _check_owner(self, lease_id: str, context: ServicerContext) -> None:
        instance = self._registrations.leased(lease_id)
        if instance is not None:
            self._gate.check_owner(instance.name, identity_of(context))


def _duration(seconds: float) -> Duration:
    duration = Duration()
    duration.FromMilliseconds(round(seconds * 1000))
    return duration
