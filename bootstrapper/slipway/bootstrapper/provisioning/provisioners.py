"""The seam behind which the provisioners are: processes behind gRPC, or objects in this one."""

from collections.abc import Sequence
from typing import Protocol

from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb


class Provisioners(Protocol):
    """All provisioners that are known, and the way to call them."""

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give all instances as the registry last sent them, the ones that are not ready too."""
        ...

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # noqa: ASYNC109  # it is the deadline that travels with the call
    ) -> provisionerpb.RenderResponse:
        """Call Render of one instance; `timeout` in seconds.

        Raises:
            SlipwayError: what the provisioner answered, or ProvisionerTimeout, or a retryable transport failure.
        """
        ...
