"""What the controller serves beside its work."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from slipway.bootstrapper.callers import Callers
from slipway.contract.errors import PermissionDenied
from slipway.controller.assembly import Assembled
from slipway.controller.server import services
from slipway.controller.settings import ControllerSettings
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.kubernetes_api.api import Api
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.server import RpcServer
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1.provisioning_service_pb2_grpc import ProvisioningServiceStub
from tests.services.certificates import Authority


async def test_the_controller_serves_plans_of_other_providers_to_its_callers(tmp_path: Any) -> None:
    """A caller on the list gets user data by ProvisioningService; another client is refused."""
    authority = Authority()
    caller, other = "spiffe://slipway/controller/k3s", "spiffe://slipway/client/other"
    settings = ControllerSettings(
        listen_address="127.0.0.1:0",
        tls_cert_dir=authority.fill(tmp_path / "server"),
        embedded_provisioners="cloud-init",
        callers=caller,
    )
    callers = Callers(settings.allowed_callers)
    parts = cast("Assembled", SimpleNamespace(every_watches=[], watches=SimpleNamespace(machines=None)))
    bootstrapper = embedded_bootstrapper(store=None)
    served = list(services(bootstrapper, callers, parts, objects=cast("Api", None), settings=settings))
    server = RpcServer(settings, served, policy=callers)
    await server.start()
    request = provisioningpb.ProvisionRequest(machine_name="m")
    request.spec.provisioner.name = "cloud-init"
    request.spec.plan.steps.add(id="a", phase=planpb.PHASE_BOOTSTRAP).command.argv.append("true")
    pools = {
        identity: ChannelPool(
            tls=CertificateFiles(authority.fill(tmp_path / name, uris=[identity])), trust_domain="slipway"
        )
        for name, identity in (("a", caller), ("b", other))
    }
    stubs = {
        identity: ProvisioningServiceStub(pool.get(f"localhost:{server.port}", retries=False))
        for identity, pool in pools.items()
    }
    try:
        assert (await invoke(stubs[caller].Provision, request, timeout=30)).format == "cloud-config"
        with pytest.raises(PermissionDenied):
            await invoke(stubs[other].Provision, request, timeout=30)
    finally:
        for pool in pools.values():
            await pool.close()
        await server.stop(grace=0)
