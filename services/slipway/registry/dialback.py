"""Dials an announced endpoint and asks it who it is: facts come from here, an announcement is only a hint."""

from dataclasses import dataclass
from typing import Protocol

from slipway.contract.errors import EndpointUnreachable, IdentityMismatch, RegistrationRejected, SlipwayError
from slipway.contract.roles import spiffe_id
from slipway.registry.advertisement import violations
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke, is_foreign_identity
from slipway.rpc.health import is_serving
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub

CONTRACT_VERSION = "v1alpha1"
SERVICE = provisionerpb.DESCRIPTOR.services_by_name["ProvisionerService"].full_name


@dataclass(frozen=True, slots=True)
class Finding:
    """What an endpoint answers: who it is, whether it serves, and the identity that it proved ("" without TLS)."""

    info: provisionerpb.GetProvisionerInfoResponse
    serving: bool
    identity: str


class Dialler(Protocol):
    """Dials endpoints."""

    async def dial(self, *, name: str, endpoint: str) -> Finding:
        """Ask the endpoint, which must prove to be the provisioner of that name.

        Raises:
            EndpointUnreachable: no usable answer in time.
            IdentityMismatch: its certificate is not that name's.
            RegistrationRejected: what it says of itself breaks the contract.
        """


class DialBack:
    """Dials over the network with the channels that the registry has."""

    def __init__(self, channels: ChannelPool, *, trust_domain: str, seconds: float) -> None:
        """Use these channels; each of the two calls has ``seconds``."""
        self._channels = channels
        self._trust_domain = trust_domain
        self._seconds = seconds

    async def dial(self, *, name: str, endpoint: str) -> Finding:
        """Ask GetProvisionerInfo and health, see ``Dialler``."""
        request = provisionerpb.GetProvisionerInfoRequest(contract_version=CONTRACT_VERSION)
        # A connection of its own: an old one would say nothing of who would be reached now.
        async with self._channels.once(endpoint, provisioner=name) as channel:
            try:
                stub = ProvisionerServiceStub(channel)
                info = await invoke(stub.GetProvisionerInfo, request, timeout=self._seconds)
                serving = await is_serving(channel, SERVICE, timeout=self._seconds)
            except SlipwayError as error:
                raise _explained(error) from None
        _check(info, name=name)
        identity = spiffe_id(trust_domain=self._trust_domain, role="provisioner", name=name)
        return Finding(info=info, serving=serving, identity=identity if self._channels.is_secure else "")


def _check(info: provisionerpb.GetProvisionerInfoResponse, *, name: str) -> None:
    broken = violations(info)
    if broken:
        raise RegistrationRejected(
            "what the endpoint says of itself breaks the contract: see provisioner_service.proto", violations=broken
        )
    if info.name != name:
        raise RegistrationRejected(
            "the endpoint is a provisioner of another name; announce the name that it says",
            violations=[("name", "must be the name that GetProvisionerInfo gives")],
        )


def _explained(error: SlipwayError) -> SlipwayError:
    if is_foreign_identity(error):
        return IdentityMismatch(
            "the certificate at the endpoint is not that of the announced name: it needs "
            "<name>.provisioner.<trust domain> among its DNS names"
        )
    return EndpointUnreachable(
        f"the endpoint gave no usable answer ({error.code.name}); it must be reachable from the registry and "
        f"serve {SERVICE} and grpc.health.v1.Health",
        metadata={"cause": error.code.name},
    )
