"""The registry over the network: leases, states, owners and watchers."""

import asyncio
from pathlib import Path

import pytest

from slipway.contract.errors import (
    CapabilitiesDisagree,
    ConcurrentUpdate,
    IdentityMismatch,
    LeaseNotFound,
    ProvisionerNotAllowed,
    Unauthenticated,
)
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import stream
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from tests.services.certificates import Authority
from tests.services.registry.conftest import Provisioning, Registering, Registry, eventually, info


async def test_a_lease_lasts_while_it_is_renewed(provisioning: Provisioning, registering: Registering) -> None:
    """Renewed in time it goes on for ever; else it is EXPIRED, cannot be renewed, is kept for diagnosis, then gone."""
    async with provisioning() as endpoint, registering() as registry:
        lease = (await registry.register(endpoint.address)).lease_id
        for _ in range(5):
            registry.clock.advance(29)
            await registry.renew(lease)
            assert await registry.states() == ["READY"]
        registry.clock.advance(31)
        with pytest.raises(LeaseNotFound):
            await registry.renew(lease)
        assert await registry.states() == ["EXPIRED"]
        registry.clock.advance(298)
        assert await registry.states() == ["EXPIRED"]
        registry.clock.advance(2)
        assert await registry.states() == []


async def test_an_expired_instance_comes_back(provisioning: Provisioning, registering: Registering) -> None:
    """Registering again replaces the record of the ended lease, which then is worth nothing."""
    async with provisioning() as endpoint, registering() as registry:
        old = (await registry.register(endpoint.address)).lease_id
        registry.clock.advance(31)
        new = (await registry.register(endpoint.address)).lease_id
        assert await registry.states() == ["READY"]
        await registry.deregister(old)
        assert await registry.states() == ["READY"]
        await registry.renew(new)


async def test_registering_again_is_harmless(provisioning: Provisioning, registering: Registering) -> None:
    """The same announcement, and a restart under a new id at the same endpoint, leave one instance."""
    async with provisioning() as endpoint, registering() as registry:
        for instance_id in ("i1", "i1", "i2"):
            await registry.register(endpoint.address, instance_id=instance_id)
        assert [instance.instance_id for instance in await registry.listing()] == ["i2"]


async def test_the_slower_of_two_announcements_tries_again(
    provisioning: Provisioning, registering: Registering
) -> None:
    """What an older dial found never replaces a newer registration."""
    async with provisioning() as endpoint, registering(dial_seconds=5) as registry:
        endpoint.answer.clear()
        calls = [asyncio.ensure_future(registry.register(endpoint.address)) for _ in range(2)]
        await eventually(lambda: endpoint.asked == 2)
        endpoint.answer.set()
        answers = await asyncio.gather(*calls, return_exceptions=True)
        (granted,) = [answer for answer in answers if isinstance(answer, registrypb.RegisterResponse)]
        (refused,) = [answer for answer in answers if isinstance(answer, ConcurrentUpdate)]
        assert refused.retryable
        await registry.renew(granted.lease_id)


async def test_deregistering_ends_a_lease(provisioning: Provisioning, registering: Registering) -> None:
    """It is gone at once; doing it again, or with an id that never was, is no error."""
    async with provisioning() as endpoint, registering() as registry:
        lease = (await registry.register(endpoint.address)).lease_id
        for lease_id in (lease, lease, "never-was", ""):
            await registry.deregister(lease_id)
            assert await registry.listing() == []


async def test_a_draining_instance_is_not_called(provisioning: Provisioning, registering: Registering) -> None:
    """It says so with a renewal, and stays DRAINING whatever comes."""
    async with provisioning() as endpoint, registering(probe_seconds=0.02) as registry:
        lease = (await registry.register(endpoint.address)).lease_id
        await registry.renew(lease, draining=True)
        assert await registry.states() == ["DRAINING"]
        await registry.renew(lease)
        assert await registry.states() == ["DRAINING"]


async def test_states_follow_the_endpoint(provisioning: Provisioning, registering: Registering) -> None:
    """Its health, its end and its return are seen by the dials, with the reason; the lease lives on by renewals."""
    async with registering(probe_seconds=0.02) as registry:
        async with provisioning() as endpoint:
            await endpoint.set_serving(serving=False)
            await registry.register(endpoint.address)
            assert await registry.states() == ["NOT_READY"]
            await endpoint.set_serving(serving=True)
            await registry.until(lambda states: states == ["READY"])
            port = int(endpoint.address.rpartition(":")[2])
        await registry.until(lambda states: states == ["NOT_READY"])
        assert "no usable answer" in (await registry.listing())[0].state_reason
        async with provisioning(port=port):
            await registry.until(lambda states: states == ["READY"])
            assert (await registry.listing())[0].state_reason == ""


async def test_instances_of_one_version_must_agree(provisioning: Provisioning, registering: Registering) -> None:
    """A second instance that advertises something else is told what; with a version of its own it is welcome."""
    async with (
        provisioning(info("x", "1.0.0", "os.files")) as first,
        provisioning(info("x", "1.0.0", "os.files", "os.users")) as second,
        registering() as registry,
    ):
        await registry.register(first.address)
        with pytest.raises(CapabilitiesDisagree) as caught:
            await registry.register(second.address, instance_id="i2")
        assert caught.value.metadata["differs"] == "formats[0].features"
        assert [instance.instance_id for instance in await registry.listing()] == ["i1"]
        second.advertised.implementation_version = "1.0.1"
        await registry.register(second.address, instance_id="i2")
        assert [instance.info.implementation_version for instance in await registry.listing()] == ["1.0.0", "1.0.1"]


async def test_an_instance_that_changes_its_mind_is_not_ready(
    provisioning: Provisioning, registering: Registering
) -> None:
    """Two equal ones, then one answers otherwise: only that one is put aside."""
    async with (
        provisioning() as first,
        provisioning() as second,
        registering(probe_seconds=0.02) as registry,
    ):
        await registry.register(first.address)
        await registry.register(second.address, instance_id="i2")
        second.advertised = info("x", "1.0.0", "os.users")
        await registry.until(lambda states: states == ["READY", "NOT_READY"])
        assert "formats[0].features" in (await registry.listing())[1].state_reason


async def test_only_listed_names_may_register(provisioning: Provisioning, registering: Registering) -> None:
    """The operator's list holds for announcements."""
    async with provisioning() as endpoint, registering(allowed_provisioners="y, z") as registry:
        with pytest.raises(ProvisionerNotAllowed):
            await registry.register(endpoint.address)


async def test_a_name_belongs_to_its_certificate(
    provisioning: Provisioning, registering: Registering, tmp_path: Path
) -> None:
    """The caller must own the name, and so must the process at the endpoint; else nothing is listed."""
    authority = Authority()
    registry_tls = authority.fill(tmp_path / "registry")
    x_tls = authority.fill_provisioner(tmp_path / "x", name="x")
    y_tls = authority.fill_provisioner(tmp_path / "y", name="y")
    async with (
        provisioning(tls=x_tls) as real,
        provisioning(tls=y_tls) as impostor,
        registering(tls=registry_tls, client_tls=x_tls) as registry,
    ):
        with pytest.raises(IdentityMismatch, match="at the endpoint"):
            await registry.register(impostor.address)
        with pytest.raises(IdentityMismatch, match="the caller's certificate"):
            await registry.register(impostor.address, name="y")
        assert await registry.listing() == []
        nobody = ChannelPool(tls=CertificateFiles(registry_tls), trust_domain="slipway")
        with pytest.raises(Unauthenticated):
            await Registry(registry.address, registry.clock, nobody).register(real.address)
        await nobody.close()
        await registry.register(real.address)
        (listed,) = await registry.listing()
    assert listed.identity == "spiffe://slipway/provisioner/x"


async def test_a_lease_belongs_to_its_owner(
    provisioning: Provisioning, registering: Registering, tmp_path: Path
) -> None:
    """Another provisioner that learned a lease id can neither end nor renew it."""
    authority = Authority()
    x_tls = authority.fill_provisioner(tmp_path / "x", name="x")
    y_tls = authority.fill_provisioner(tmp_path / "y", name="y")
    async with provisioning(tls=x_tls) as endpoint, registering(tls=x_tls) as registry:
        lease = (await registry.register(endpoint.address)).lease_id
        others = ChannelPool(tls=CertificateFiles(y_tls), trust_domain="slipway")
        other = Registry(registry.address, registry.clock, others)
        with pytest.raises(IdentityMismatch):
            await other.deregister(lease)
        with pytest.raises(IdentityMismatch):
            await other.renew(lease, draining=True)
        assert await registry.states() == ["READY"]
        await others.close()


async def test_a_watcher_gets_the_list_and_every_change(provisioning: Provisioning, registering: Registering) -> None:
    """First what is, then what becomes; a renewal is no change."""
    async with provisioning() as endpoint, registering() as registry:
        lists = stream(registry.stub.WatchProvisioners, registrypb.WatchProvisionersRequest())
        assert len((await anext(lists)).instances) == 0
        answer = await registry.register(endpoint.address)
        first = await anext(lists)
        assert [instance.state for instance in first.instances] == [registrypb.INSTANCE_STATE_READY]
        assert first.registry_epoch == answer.registry_epoch
        await registry.renew(answer.lease_id)
        await registry.renew(answer.lease_id, draining=True)
        assert [instance.state for instance in (await anext(lists)).instances] == [registrypb.INSTANCE_STATE_DRAINING]
        await registry.deregister(answer.lease_id)
        assert len((await anext(lists)).instances) == 0
        await lists.aclose()


async def test_a_restarted_instance_takes_the_place_of_its_old_lease_at_once(
    provisioning: Provisioning, registering: Registering
) -> None:
    """Under another spelling of the endpoint, too, and although it says something else of the same version now."""
    async with registering() as registry:
        async with provisioning(info("x", "1.0.0", "os.files")) as endpoint:
            port = endpoint.address.rpartition(":")[2]
            old = await registry.register(endpoint.address, instance_id="old")
        async with provisioning(info("x", "1.0.0", "os.users"), port=int(port)) as endpoint:
            for number, host in enumerate(("localhost", "127.0.0.1", "dns:///localhost", "ipv4:127.0.0.1")):
                await registry.register(f"{host}:{port}", instance_id=f"new-{number}")
                (listed,) = await registry.listing()
                assert (listed.instance_id, listed.info) == (f"new-{number}", endpoint.advertised)
        with pytest.raises(LeaseNotFound):
            await registry.renew(old.lease_id)


@pytest.mark.parametrize("farewell", [False, True])
async def test_a_restarted_instance_does_not_wait_for_its_old_lease_elsewhere(
    provisioning: Provisioning, registering: Registering, *, farewell: bool
) -> None:
    """A new pod has another address: the old one, killed or about to stop, has no say in what the new one can do."""
    async with registering() as registry:
        async with provisioning(info("x", "1.0.0", "os.files")) as endpoint:
            old = await registry.register(endpoint.address, instance_id="old")
            if farewell:
                await registry.renew(old.lease_id, draining=True)
        async with provisioning(info("x", "1.0.0", "os.users")) as endpoint:
            await registry.register(endpoint.address, instance_id="new")
            states = {instance.instance_id: instance.state for instance in await registry.listing()}
            assert states["new"] == registrypb.INSTANCE_STATE_READY
            assert states["old"] != registrypb.INSTANCE_STATE_READY


async def test_of_two_that_disagree_one_is_called(provisioning: Provisioning, registering: Registering) -> None:
    """One that was away, and comes back with other features than those that took its place, is not called."""
    async with registering(probe_seconds=0.02) as registry, provisioning(info("x", "1.0.0", "os.users")) as second:
        async with provisioning(info("x", "1.0.0", "os.files")) as first:
            port = int(first.address.rpartition(":")[2])
            await registry.register(first.address)
        await registry.register(second.address, instance_id="i2")
        async with provisioning(info("x", "1.0.0", "os.files"), port=port):
            await registry.until(lambda states: states == ["NOT_READY", "READY"])
            (away, _) = await registry.listing()
            while "advertises other" not in away.state_reason:
                (away, _) = await registry.listing()
