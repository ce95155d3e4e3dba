"""BootstrapService in a management cluster: as everywhere, and by the name of a Machine."""

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.callers import Callers
from slipway.bootstrapper.service import BootstrapServicer
from slipway.contract import validation
from slipway.contract.errors import BundleInvalid, Violation
from slipway.controller.machine_data import MachineData
from slipway.controller.reading import Readers
from slipway.rpc import ServicerContext
from slipway.rpc.identity import identity_of
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb


class ManagementServicer(BootstrapServicer):
    """Answers the four calls; GetUserData for Machines too."""

    def __init__(self, bootstrapper: Bootstrapper, callers: Callers, *, data: MachineData, readers: Readers) -> None:
        """Serve a bootstrapper to its callers, and the stored user data to those who may read them."""
        super().__init__(bootstrapper, callers)
        self._data = data
        self._readers = readers

    async def GetUserData(  # noqa: N802  # the name is the contract's
        self, request: bootstrappb.GetUserDataRequest, context: ServicerContext
    ) -> bootstrappb.GetUserDataResponse:
        """See bootstrap_service.proto."""
        if not request.HasField("machine_reference"):
            return await super().GetUserData(request, context)
        wrong = validation.bounded(validation.violations(request.machine_reference, path="machine_reference"))
        if request.HasField("subject"):
            wrong.append(Violation("subject", "cannot be set together with machine_reference"))
        if wrong:
            raise BundleInvalid("the Machine is not named as it should be", violations=wrong)
        namespace, machine = request.machine_reference.namespace, request.machine_reference.name
        metadata = {key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)}
        # Who may read is asked before any answer about what there is: the Secret has the name of the config,
        # and that one, as Cluster API makes it, has the name of the Machine.
        await self._readers.check(
            identity_of(context), metadata.get("authorization", ""), namespace=namespace, secret=machine
        )
        secret = self._data.secret_name(namespace, machine)
        if secret != machine:
            await self._readers.check(
                identity_of(context), metadata.get("authorization", ""), namespace=namespace, secret=secret
            )
        return await self._data.user_data(namespace, secret)
