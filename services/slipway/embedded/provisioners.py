"""Slipway's own provisioners as objects of this process.

They are called through the same code that serves gRPC, and every message is serialised and parsed on its way, so that
nothing works here that would not work over the wire.
"""

import asyncio
import importlib
from collections.abc import Collection, Sequence
from typing import TypeVar, cast

from google.protobuf.message import Message

from slipway.contract.errors import ProvisionerTimeout
from slipway.sdk import Provisioner, ProvisionerCore
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

M = TypeVar("M", bound=Message)

ENDPOINT = "embedded"
"""The endpoint of an instance in this process; no address of a network has this form."""

_CLASSES = {
    "cloud-init": ("slipway.provisioners.cloud_init.render", "CloudInit"),
    "ignition": ("slipway.provisioners.ignition.render", "IgnitionProvisioner"),
    "talos": ("slipway.provisioners.talos.provisioner", "TalosProvisioner"),
    "windows": ("slipway.provisioners.windows.provisioner", "WindowsProvisioner"),
}
"""Module and class of each provisioner: only those that are asked for are imported and cost memory."""

NAMES = tuple(sorted(_CLASSES))
"""The provisioners that can be embedded."""


class EmbeddedProvisioners:
    """Provisioners as objects, one ready instance of each."""

    def __init__(self, provisioners: Sequence[Provisioner]) -> None:
        """Wrap provisioners."""
        self._cores = {provisioner.name: ProvisionerCore(provisioner) for provisioner in provisioners}
        self._instances = [
            registrypb.ProvisionerInstance(
                instance_id=ENDPOINT, endpoint=ENDPOINT, state=registrypb.INSTANCE_STATE_READY, info=core.info
            )
            for core in self._cores.values()
        ]

    @property
    def names(self) -> Collection[str]:
        """Names of the provisioners."""
        return self._cores.keys()

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Return one ready instance of each."""
        return self._instances

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # noqa: ASYNC109  # it is the deadline that a call would carry
    ) -> provisionerpb.RenderResponse:
        """Call a provisioner as the wire would; `timeout` in seconds.

        Raises:
            SlipwayError: its refusal, or ProvisionerTimeout.
        """
        core = self._cores[instance.info.name]
        try:
            async with asyncio.timeout(timeout):
                return _copy_over_the_wire(await core.render(_copy_over_the_wire(request)))
        except TimeoutError:
            raise ProvisionerTimeout(
                f"provisioner {instance.info.name} did not answer in time", metadata={"provisioner": instance.info.name}
            ) from None


def _copy_over_the_wire(message: M) -> M:
    return type(message).FromString(message.SerializeToString())


def own_provisioners(names: Collection[str] = NAMES) -> list[Provisioner]:
    """Return new objects of our provisioners, in the order of their names.

    Raises:
        ValueError: a name is not one of NAMES.
    """
    unknown = sorted(set(names) - _CLASSES.keys())
    if unknown:
        raise ValueError(f"{', '.join(unknown)}: not an embedded provisioner; choose from {', '.join(NAMES)}")
    classes = [
        getattr(importlib.import_module(module), name) for key, (module, name) in _CLASSES.items() if key in names
    ]
    return [cast(Provisioner, provisioner()) for provisioner in classes]


def embedded_provisioners(names: Collection[str] = NAMES) -> EmbeddedProvisioners:
    """Return provisioners by name; the default is all of Slipway's own.

    Raises:
        ValueError: a name is not one of NAMES.
    """
    return EmbeddedProvisioners(own_provisioners(names))
