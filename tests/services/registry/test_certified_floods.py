"""Floods of calls by a certificate of the authority: all other callers of the registry are answered meanwhile."""

import asyncio
import contextlib
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.contract.errors import ForeignStatus, Overloaded
from slipway.rpc.admission import MAX_STREAMS_OF_CALLER
from slipway.rpc.client import invoke, stream
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceStub
from tests.services.certificates import Authority
from tests.services.floods import CALLS, Flood, first, flooding
from tests.services.registry.conftest import Provisioning, Registering, info

pytestmark = pytest.mark.long

REGISTER = "/slipway.v1alpha1.RegistryService/Register"


@pytest.fixture
def authority() -> Authority:
    return Authority()


async def calling(flood: Flood) -> None:
    """Call with the certificate of the flood, again and again.

    As long as the flood's calls are only arriving, gRPC itself refuses more of them, without a reason.
    """
    stub = RegistryServiceStub(flood.channels[0])
    while True:
        with contextlib.suppress(ForeignStatus):
            await invoke(stub.ListProvisioners, registrypb.ListProvisionersRequest(), timeout=5)


async def attacked(flood: Flood, attack: str) -> None:
    """Have a flood of some kind arrive."""
    if attack == "calls without a request":
        await flood.silent(CALLS, REGISTER)
        with pytest.raises(Overloaded):
            await calling(flood)
        return
    outcomes = await (flood.watches(CALLS - 1) if attack == "watches" else flood.health_watches(CALLS))
    assert 0 < outcomes["OK"] <= MAX_STREAMS_OF_CALLER


@pytest.mark.timeout(180)
@pytest.mark.parametrize("attack", ["watches", "health watches", "calls without a request"])
async def test_a_flood_of_one_certificate_stops_no_other_caller(
    attack: str, authority: Authority, registering: Registering, provisioning: Provisioning, tmp_path: Path
) -> None:
    """1,280 calls over forty connections: the others' Register, List, watch and health go on."""
    hostile = authority.fill_provisioner(tmp_path / "hostile", name="hostile")
    x_tls = authority.fill_provisioner(tmp_path / "x", name="x")
    registry_tls = authority.fill(tmp_path / "registry", hosts=["registry.slipway"])
    async with (
        provisioning(info("x"), tls=x_tls) as endpoint,
        registering(tls=registry_tls, client_tls=x_tls, dial_seconds=20) as registry,
        flooding(registry.address, hostile) as flood,
    ):
        await attacked(flood, attack)
        async with asyncio.timeout(20):
            await registry.register(endpoint.address)
            assert [instance.info.name for instance in await registry.listing()] == ["x"]
            assert await first(stream(registry.stub.WatchProvisioners, registrypb.WatchProvisionersRequest())) == "OK"
            health = health_pb2_grpc.HealthStub(registry.channels.get(registry.address, retries=False))
            answer = await invoke(health.Check, health_pb2.HealthCheckRequest(), timeout=5)
            assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.timeout(180)
async def test_others_are_answered_while_a_flood_goes_on(
    authority: Authority, registering: Registering, tmp_path: Path
) -> None:
    """As many watches as a certificate may try at the same time, each again as soon as it is refused."""
    hostile = authority.fill_provisioner(tmp_path / "hostile", name="hostile")
    x_tls = authority.fill_provisioner(tmp_path / "x", name="x")
    registry_tls = authority.fill(tmp_path / "registry", hosts=["registry.slipway"])
    async with (
        registering(tls=registry_tls, client_tls=x_tls) as registry,
        flooding(registry.address, hostile) as flood,
    ):
        await flood.watches(CALLS)

        async def again() -> None:
            while True:
                await flood.watches(1)
                flood.open.pop()

        attackers = [asyncio.ensure_future(again()) for _ in range(CALLS)]
        for _ in range(20):
            assert await registry.listing() == []
        for attacker in attackers:
            attacker.cancel()
        await asyncio.gather(*attackers, return_exceptions=True)
