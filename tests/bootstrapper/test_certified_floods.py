"""A flood of calls by one certificate: another caller gets its user data meanwhile."""

from pathlib import Path

import pytest

from slipway.bootstrapper.callers import Callers
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.service import BootstrapServicer
from slipway.bootstrapper.settings import BootstrapperSettings
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import (
    BootstrapServiceStub,
    add_BootstrapServiceServicer_to_server,
)
from tests.bootstrapper.test_callers import CONTROLLER, OTHER, subject
from tests.services.certificates import Authority
from tests.services.floods import CALLS, flooding

pytestmark = pytest.mark.long

_GET = "/slipway.v1alpha1.BootstrapService/GetUserData"


@pytest.mark.timeout(180)
@pytest.mark.parametrize("attack", ["streams", "calls without a request"])
@pytest.mark.parametrize("attacker", [OTHER, "spiffe://slipway/provisioner/hostile"], ids=["client", "provisioner"])
async def test_user_data_are_given_during_a_flood(attacker: str, attack: str, tmp_path: Path) -> None:
    """A flood of streams or calls by a certificate, whether or not it may call, takes no place of the controller's.

    The calls are more than gRPC lets wait of itself: beyond that it cancels calls of every caller.
    """
    authority = Authority()
    settings = BootstrapperSettings(listen_address="127.0.0.1:0", tls_cert_dir=authority.fill(tmp_path / "server"))
    callers = Callers(settings.allowed_callers)
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(embedded_bootstrapper(store=PlaceholderStore()), callers),
    )
    server = RpcServer(settings, [service], policy=callers)
    await server.start()
    await server.health.set_all(serving=True)
    controller = CertificateFiles(authority.fill(tmp_path / "controller", uris=[CONTROLLER]))
    channels = ChannelPool(tls=controller, trust_domain="slipway")
    hostile = authority.fill(tmp_path / "hostile", uris=[attacker])
    try:
        async with flooding(f"localhost:{server.port}", hostile) as flood:
            if attack == "streams":
                assert (await flood.health_watches(CALLS))["OK"] > 0
            else:
                await flood.silent(2 * CALLS, _GET)
            stub = BootstrapServiceStub(channels.get(f"localhost:{server.port}", retries=False))
            request = bootstrappb.GetUserDataRequest(subject=subject("team-a"))
            assert (await invoke(stub.GetUserData, request, timeout=30)).user_data
    finally:
        await channels.close()
        await server.stop(grace=0)
