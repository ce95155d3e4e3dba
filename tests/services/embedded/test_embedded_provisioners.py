"""Provisioners in one process, alone and beside those of a registry."""

import subprocess
import sys
from collections.abc import Sequence

import pytest
from structlog.testing import capture_logs

from slipway.embedded.joined import JoinedProvisioners
from slipway.embedded.provisioners import NAMES, EmbeddedProvisioners, embedded_provisioners
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb


class Registered:
    """The provisioners of a registry; it records who was called."""

    def __init__(self, *instances: registrypb.ProvisionerInstance) -> None:
        self._instances = instances
        self.called: list[str] = []

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        return self._instances

    async def render(
        self, instance: registrypb.ProvisionerInstance, request: provisionerpb.RenderRequest, *, timeout: float
    ) -> provisionerpb.RenderResponse:
        self.called.append(instance.info.name)
        return provisionerpb.RenderResponse(format=request.format)


def instance(name: str, *, endpoint: str = "10.0.0.9:9443", version: str = "99.0.0") -> registrypb.ProvisionerInstance:
    return registrypb.ProvisionerInstance(
        instance_id="a",
        endpoint=endpoint,
        state=registrypb.INSTANCE_STATE_READY,
        info=provisionerpb.GetProvisionerInfoResponse(
            name=name, implementation_version=version, formats=[provisionerpb.FormatInfo(format="acme")]
        ),
    )


def test_every_name_is_that_of_a_provisioner() -> None:
    """The names of the table and those that the provisioners report are the same."""
    assert sorted(embedded_provisioners().names) == list(NAMES)


def test_an_unknown_name_is_refused_with_what_there_is() -> None:
    """A name that is not embedded cannot be asked for."""
    with pytest.raises(ValueError, match="flatcar: not an embedded provisioner; choose from cloud-init, ignition"):
        embedded_provisioners({"cloud-init", "flatcar"})


def test_only_what_is_asked_for_is_imported() -> None:
    """A provisioner that is not embedded costs no memory."""
    program = (
        "import sys\n"
        "from slipway.embedded.provisioners import embedded_provisioners\n"
        "embedded_provisioners({'ignition'})\n"
        "print(*sorted({name.split('.')[2] for name in sys.modules if name.startswith('slipway.provisioners.')}))\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.split() == ["ignition"]


def test_the_name_of_an_embedded_provisioner_is_reserved() -> None:
    """Who registers under such a name, even with a newer version, is not listed; that is logged once."""
    joined = JoinedProvisioners(embedded_provisioners({"ignition"}), Registered(instance("ignition"), instance("acme")))
    with capture_logs() as logs:
        listed = [(found.info.name, found.endpoint) for found in (*joined.instances(), *joined.instances())]
    assert listed == [("ignition", "embedded"), ("acme", "10.0.0.9:9443")] * 2
    assert [entry["provisioner"] for entry in logs] == ["ignition"]


async def test_each_instance_is_called_where_it_is() -> None:
    """A remote instance that calls its endpoint "embedded" is still remote: the name decides."""
    remote = Registered(instance("acme", endpoint="embedded"))
    joined = JoinedProvisioners(EmbeddedProvisioners([]), remote)
    answer = await joined.render(joined.instances()[0], provisionerpb.RenderRequest(format="acme"), timeout=1.0)
    assert (answer.format, remote.called) == ("acme", ["acme"])
