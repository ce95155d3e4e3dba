"""BootstrapService: the bootstrapper behind gRPC. It adds nothing but the wire."""

import asyncio

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.bundles import give_bundle
from slipway.bootstrapper.callers import EVERYBODY, Callers
from slipway.bootstrapper.explanation import explain
from slipway.bootstrapper.importing import import_document
from slipway.contract.errors import NoManagementCluster
from slipway.contract.unknown import check_request
from slipway.rpc import ServicerContext
from slipway.rpc.identity import identity_of
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceServicer


class BootstrapServicer(BootstrapServiceServicer):
    """Answers the four calls."""

    def __init__(self, bootstrapper: Bootstrapper, callers: Callers = EVERYBODY) -> None:
        """Serve a bootstrapper; `callers` says about whose clusters each caller may ask."""
        self._bootstrapper = bootstrapper
        self._callers = callers

    async def GetUserData(  # noqa: N802  # the name is the contract's
        self, request: bootstrappb.GetUserDataRequest, context: ServicerContext
    ) -> bootstrappb.GetUserDataResponse:
        """See bootstrap_service.proto."""
        check_request(request)
        if request.HasField("machine_reference"):
            raise NoManagementCluster("this server knows no Machines: send the subject")
        self._check(request.subject, context)
        return await self._bootstrapper.user_data(request)

    async def GetBundle(  # noqa: N802  # the name is the contract's
        self, request: bootstrappb.GetBundleRequest, context: ServicerContext
    ) -> bootstrappb.GetBundleResponse:
        """See bootstrap_service.proto."""
        check_request(request)
        self._check(request.subject, context)
        return await give_bundle(self._bootstrapper, request, identity=str(identity_of(context) or ""))

    async def Explain(  # noqa: N802  # the name is the contract's
        self, request: bootstrappb.ExplainRequest, context: ServicerContext
    ) -> bootstrappb.ExplainResponse:
        """See bootstrap_service.proto."""
        check_request(request)
        self._check(request.subject, context)
        return await explain(self._bootstrapper, request)

    async def ImportKubeadmConfig(  # noqa: N802  # the name is the contract's
        self, request: bootstrappb.ImportKubeadmConfigRequest, context: ServicerContext
    ) -> bootstrappb.ImportKubeadmConfigResponse:
        """See bootstrap_service.proto."""
        del context
        check_request(request)
        return await asyncio.to_thread(import_document, request)

    def _check(self, subject: bootstrappb.Subject, context: ServicerContext) -> None:
        """Refuse a caller that is held to other namespaces, before anything of the cluster is touched."""
        self._callers.check_cluster(identity_of(context), subject.cluster.namespace)
