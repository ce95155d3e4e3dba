"""All provisioners in this process, for a first try: no port, no certificate, no second process.

They are called through the same code that serves gRPC, and every message is serialised and parsed on its way, so that
nothing works here that would not work over the wire.
"""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from google.protobuf.message import Message

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.compilation import Compiler
from slipway.bootstrapper.credentials.store import CredentialStore
from slipway.bootstrapper.engines.table import installed_engines
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.bootstrapper.policy import Policy
from slipway.contract.errors import ProvisionerTimeout
from slipway.contract.version import VERSION
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.provisioners.talos.provisioner import TalosProvisioner
from slipway.provisioners.windows.provisioner import WindowsProvisioner
from slipway.sdk import Provisioner, ProvisionerCore
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

M = TypeVar("M", bound=Message)


class EmbeddedProvisioners:
    """The four provisioners as objects."""

    def __init__(self, provisioners: Sequence[Provisioner]) -> None:
        """Wrap provisioners."""
        self._cores = {one.name: ProvisionerCore(one) for one in provisioners}

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Give one ready instance of each."""
        return [
            registrypb.ProvisionerInstance(
                instance_id="embedded", endpoint="embedded", state=registrypb.INSTANCE_STATE_READY, info=core.info
            )
            for core in self._cores.values()
        ]

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # noqa: ASYNC109  # it is the deadline that a call would carry
    ) -> provisionerpb.RenderResponse:
        """Call a provisioner as the wire would.

        Raises:
            SlipwayError: its refusal, or ProvisionerTimeout.
        """
        core = self._cores[instance.info.name]
        try:
            async with asyncio.timeout(timeout):
                return _over_the_wire(await core.render(_over_the_wire(request)))
        except TimeoutError:
            raise ProvisionerTimeout(
                f"provisioner {instance.info.name} did not answer in time", metadata={"provisioner": instance.info.name}
            ) from None


def _over_the_wire(message: M) -> M:
    return type(message).FromString(message.SerializeToString())


def embedded_provisioners() -> EmbeddedProvisioners:
    """Give our own four."""
    return EmbeddedProvisioners([CloudInit(), IgnitionProvisioner(), TalosProvisioner(), WindowsProvisioner()])


def served() -> dict[str, list[str]]:
    """Give the names of our own provisioners, each with its formats."""
    infos = (one.info for one in embedded_provisioners().instances())
    return {info.name: [one.format for one in info.formats] for info in infos}


def compiler(profiles: Path | None = None) -> Compiler:
    """Give the compiler of a bootstrapper; `profiles` is a directory with the operator's own OS profiles."""
    known = ProfileTable.extended(profiles) if profiles else ProfileTable.shipped()
    return Compiler(engines=installed_engines(), profiles=known, passes=all_passes())


def embedded_bootstrapper(
    *, store: CredentialStore | None, policy: Policy | None = None, profiles: Path | None = None
) -> Bootstrapper:
    """Give a bootstrapper with everything in this process."""
    return Bootstrapper(
        provisioners=embedded_provisioners(),
        compiler=compiler(profiles),
        version=VERSION,
        store=store,
        policy=policy or Policy(),
    )
