"""What the commands call: everything in this process, or a server."""

from collections.abc import Sequence
from typing import Protocol

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.bundles import give_bundle
from slipway.bootstrapper.explanation import explain
from slipway.bootstrapper.importing import import_document
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

MYSELF = "the person at this command line"
"""Identity of the caller of an embedded bootstrapper, who may see the secrets of the own files."""


class Backend(Protocol):
    """The calls behind the commands. All raise SlipwayError."""

    async def user_data(self, request: bootstrappb.GetUserDataRequest) -> bootstrappb.GetUserDataResponse:
        """Give user data."""
        ...

    async def bundle(self, request: bootstrappb.GetBundleRequest) -> bootstrappb.GetBundleResponse:
        """Give a bundle."""
        ...

    async def explain(self, request: bootstrappb.ExplainRequest) -> bootstrappb.ExplainResponse:
        """Give the matrix of fields and formats."""
        ...

    async def import_config(
        self, request: bootstrappb.ImportKubeadmConfigRequest
    ) -> bootstrappb.ImportKubeadmConfigResponse:
        """Turn one KubeadmConfig into a spec."""
        ...

    async def provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give all instances of all provisioners."""
        ...

    async def known_provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give the same, or nothing where no registry is known."""
        ...

    async def close(self) -> None:
        """Give back what was opened."""
        ...


class EmbeddedBackend:
    """Answers by a bootstrapper in this process."""

    def __init__(self, bootstrapper: Bootstrapper) -> None:
        """Use a bootstrapper."""
        self._bootstrapper = bootstrapper

    async def user_data(self, request: bootstrappb.GetUserDataRequest) -> bootstrappb.GetUserDataResponse:
        """Give user data."""
        return await self._bootstrapper.user_data(request)

    async def bundle(self, request: bootstrappb.GetBundleRequest) -> bootstrappb.GetBundleResponse:
        """Give a bundle."""
        return await give_bundle(self._bootstrapper, request, identity=MYSELF)

    async def explain(self, request: bootstrappb.ExplainRequest) -> bootstrappb.ExplainResponse:
        """Give the matrix of fields and formats."""
        return await explain(self._bootstrapper, request)

    async def import_config(
        self, request: bootstrappb.ImportKubeadmConfigRequest
    ) -> bootstrappb.ImportKubeadmConfigResponse:
        """Turn one KubeadmConfig into a spec."""
        return import_document(request)

    async def provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give the provisioners of this process."""
        return self._bootstrapper.provisioners.instances()

    async def known_provisioners(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give the provisioners of this process."""
        return self._bootstrapper.provisioners.instances()

    async def close(self) -> None:
        """Nothing was opened."""
