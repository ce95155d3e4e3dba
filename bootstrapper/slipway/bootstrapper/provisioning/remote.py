"""Provisioners behind gRPC: the list is the registry's, the calls go straight to them."""

from collections.abc import Callable, Sequence

from slipway.contract.errors import ProvisionerTimeout, SlipwayError
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub

Listing = Callable[[], Sequence[registrypb.ProvisionerInstance]]


class RemoteProvisioners:
    """Calls the instances that a listing gives. The peer must prove by its certificate to own the name."""

    def __init__(self, listing: Listing, channels: ChannelPool) -> None:
        """Use the registry's list, as last sent, and a pool of channels."""
        self._listing = listing
        self._channels = channels

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give all instances as the registry last sent them."""
        return self._listing()

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # noqa: ASYNC109  # it is the deadline that travels with the call
    ) -> provisionerpb.RenderResponse:
        """Call Render. gRPC's own repeats are off: who repeats what is the caller's decision.

        Raises:
            SlipwayError: the provisioner's refusal, ProvisionerTimeout, or a ForeignStatus of the transport.
        """
        channel = self._channels.get(instance.endpoint, provisioner=instance.info.name, retries=False)
        try:
            return await invoke(ProvisionerServiceStub(channel).Render, request, timeout=timeout)
        except SlipwayError as error:
            if error.code.name == "DEADLINE_EXCEEDED" and not error.reason:
                raise ProvisionerTimeout(
                    "it did not answer within the deadline", metadata={"provisioner": instance.info.name}
                ) from None
            raise
