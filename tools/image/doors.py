"""An installation as its callers see it: two addresses, and who they are by their certificates."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from slipway.contract.errors import SlipwayError
from slipway.contract.roles import BOOTSTRAPPER, REGISTRY
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub

if TYPE_CHECKING:
    from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceAsyncStub

CALL_SECONDS = 10.0
_TRUST_DOMAIN = "slipway"


@dataclass(frozen=True, slots=True)
class Doors:
    """Where an installation listens, and a folder with the certificates of everybody in it, by name.

    Attributes:
        gateway: URL of its node gateway; "" for none.
    """

    registry: str
    bootstrapper: str
    certificates: Path
    gateway: str = ""

    @asynccontextmanager
    async def caller(self, certificates: Path | None = None) -> AsyncIterator["Caller"]:
        """Give a caller with the certificates of a directory; the operator's client without one."""
        files = CertificateFiles(certificates or self.certificates / "client")
        channels = ChannelPool(tls=files, trust_domain=_TRUST_DOMAIN)
        try:
            yield Caller(self, channels)
        finally:
            await channels.close()


@dataclass(frozen=True, slots=True)
class Caller:
    """Somebody with a certificate. Calls are not repeated: a refusal shows at once."""

    doors: Doors
    channels: ChannelPool

    async def user_data(
        self,
        subject: bootstrappb.Subject,
        provisioner: str = "",
        *,
        timeout: float = CALL_SECONDS,  # noqa: ASYNC109  # gRPC's own limit
    ) -> bootstrappb.GetUserDataResponse:
        """Ask for a machine's user data, by a provisioner where one is named.

        Raises:
            SlipwayError: it is refused.
        """
        request = bootstrappb.GetUserDataRequest(subject=subject, accept_attachments=True, max_user_data_bytes=1 << 20)
        if provisioner:
            request.subject.spec.provisioner.name = provisioner
        stub = BootstrapServiceStub(self.channels.get(self.doors.bootstrapper, role=BOOTSTRAPPER, retries=False))
        return await invoke(stub.GetUserData, request, timeout=timeout)

    async def provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Ask the registry for its list.

        Raises:
            SlipwayError: it is refused.
        """
        answer = await invoke(
            self._registry().ListProvisioners, registrypb.ListProvisionersRequest(), timeout=CALL_SECONDS
        )
        return list(answer.instances)

    async def register(self, name: str, endpoint: str) -> None:
        """Announce a provisioner.

        Raises:
            SlipwayError: it is refused.
        """
        request = registrypb.RegisterRequest(name=name, instance_id="trial", endpoint=endpoint)
        await invoke(self._registry().Register, request, timeout=CALL_SECONDS)

    async def ready(self) -> set[str]:
        """Give the names of provisioners that are ready; none while the registry is away."""
        try:
            instances = await self.provisioners()
        except SlipwayError:
            return set()
        return {instance.info.name for instance in instances if instance.state == registrypb.INSTANCE_STATE_READY}

    def _registry(self) -> "RegistryServiceAsyncStub":
        return RegistryServiceStub(self.channels.get(self.doors.registry, role=REGISTRY, retries=False))
