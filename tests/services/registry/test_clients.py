"""Both clients of the registry go on whatever happens to it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from slipway.bootstrapper.provisioning.directory import REMEMBER_SECONDS, ProvisionerDirectory
from slipway.contract.errors import SlipwayError
from slipway.rpc.backoff import PATIENT_SECONDS, URGENT_SECONDS, Backoff
from slipway.rpc.channel import ChannelPool
from slipway.sdk.lease import LeaseKeeper
from tests.services.registry.conftest import FakeClock, Provisioning, Registering, eventually, info


@pytest.fixture
async def channels() -> AsyncIterator[ChannelPool]:
    pool = ChannelPool(tls=None, trust_domain="slipway")
    yield pool
    await pool.close()


@asynccontextmanager
async def _kept(channels: ChannelPool, registry: str, endpoint: str) -> AsyncIterator[LeaseKeeper]:
    keeper = LeaseKeeper(channels, registry, name="x", endpoint=endpoint)
    keeper.start()
    try:
        yield keeper
    finally:
        await keeper.stop()


async def test_a_keeper_registers_renews_and_deregisters(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool
) -> None:
    """Longer than its ttl it stays listed, with its own id; at the end it is gone at once."""
    async with provisioning() as endpoint, registering(renew_after_seconds=0.02) as registry:
        async with _kept(channels, registry.address, endpoint.address) as keeper:
            await asyncio.wait_for(keeper.registered.wait(), 60)
            for _ in range(4):
                before = (await registry.listing())[0].renew_time.ToMilliseconds()
                registry.clock.advance(20)

                async def renewed(before: int = before) -> bool:
                    return (await registry.listing())[0].renew_time.ToMilliseconds() > before

                await eventually(renewed)
            assert [instance.instance_id for instance in await registry.listing()] == [keeper.instance_id]
        assert await registry.listing() == []


async def test_a_lost_lease_is_registered_again(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool
) -> None:
    """NOT_FOUND on renewal means: register."""
    async with (
        provisioning() as endpoint,
        registering(renew_after_seconds=0.02) as registry,
        _kept(channels, registry.address, endpoint.address) as keeper,
    ):
        await asyncio.wait_for(keeper.registered.wait(), 60)
        registry.clock.advance(31)
        await registry.until(lambda states: states == ["READY"])


async def test_a_provisioner_is_back_soon_after_the_registry(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool, unused_port: int
) -> None:
    """The registry dies and loses its memory: within 15 s (here less) all is as before, and nobody was asked."""
    async with provisioning() as endpoint:
        async with registering(port=unused_port, renew_after_seconds=0.05) as registry:
            keeper = LeaseKeeper(channels, registry.address, name="x", endpoint=endpoint.address)
            keeper.start()
            await asyncio.wait_for(keeper.registered.wait(), 60)
        start = time.monotonic()
        async with registering(port=unused_port) as registry:
            await registry.until(lambda states: states == ["READY"])
            assert time.monotonic() - start < 15
            await keeper.stop()
            assert await registry.listing() == []


async def test_a_keeper_waits_for_a_registry_that_is_not_there_yet(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool, unused_port: int
) -> None:
    """The order in which processes start is no problem."""
    async with provisioning() as endpoint, _kept(channels, f"127.0.0.1:{unused_port}", endpoint.address) as keeper:
        assert not keeper.registered.is_set()
        async with registering(port=unused_port) as registry:
            await asyncio.wait_for(keeper.registered.wait(), 10)
            assert await registry.states() == ["READY"]


async def test_a_rejected_keeper_goes_on_trying(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool
) -> None:
    """The operator stops the instance that disagrees, and the new one gets in without a restart."""
    async with (
        provisioning(info("x", "1.0.0", "os.users")) as other,
        provisioning() as endpoint,
        registering() as registry,
    ):
        lease = (await registry.register(other.address)).lease_id
        pauses: list[float] = []

        async def sleep(seconds: float) -> None:
            pauses.append(seconds)
            if len(pauses) == 3:
                await registry.deregister(lease)
            await asyncio.sleep(0)

        keeper = LeaseKeeper(channels, registry.address, name="x", endpoint=endpoint.address, sleep=sleep)
        keeper.start()
        await asyncio.wait_for(keeper.registered.wait(), 60)
        await keeper.stop()
    assert pauses[0] < pauses[2]


async def test_stopping_without_a_registry_is_no_error(channels: ChannelPool, unused_port: int) -> None:
    """The end of a provisioner does not hang on a registry that is away."""
    async with _kept(channels, f"127.0.0.1:{unused_port}", "127.0.0.1:1"):
        pass


async def test_a_lease_that_is_granted_at_the_end_is_given_back(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool
) -> None:
    """The keeper is stopped while the registry dials back; nobody is left listed who has gone."""
    async with provisioning() as endpoint, registering() as registry:
        endpoint.answer.clear()
        keeper = LeaseKeeper(channels, registry.address, name="x", endpoint=endpoint.address)
        keeper.start()
        await eventually(lambda: endpoint.asked > 0)
        stopping = asyncio.ensure_future(keeper.stop())
        await asyncio.sleep(0)
        endpoint.answer.set()
        await stopping
        assert not keeper.registered.is_set()
        assert await registry.listing() == []


async def test_a_directory_follows_the_list(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool
) -> None:
    """Changes arrive without asking."""
    async with provisioning() as endpoint, registering() as registry:
        directory = ProvisionerDirectory(channels, registry.address)
        directory.start()
        await asyncio.wait_for(directory.loaded.wait(), 60)
        assert list(directory.instances()) == []
        lease = (await registry.register(endpoint.address)).lease_id
        await eventually(lambda: [instance.endpoint for instance in directory.instances()] == [endpoint.address])
        await registry.deregister(lease)
        await eventually(lambda: not directory.instances())
        await directory.stop()


async def test_a_directory_keeps_its_list_while_the_registry_is_away(
    provisioning: Provisioning, registering: Registering, channels: ChannelPool, unused_port: int
) -> None:
    """Away: the last list serves. Back with an empty memory: the last list fills the gaps, for a while."""
    clock = FakeClock()
    async with provisioning(info("x")) as one, provisioning(info("y")) as two:
        async with registering(port=unused_port) as registry:
            directory = ProvisionerDirectory(channels, registry.address, monotonic=clock.monotonic)
            directory.start()
            await registry.register(one.address)
            await registry.register(two.address, name="y")
            await eventually(lambda: len(directory.instances()) == 2)
        with pytest.raises(SlipwayError):
            await registry.listing()
        clock.advance(100_000)
        assert len(directory.instances()) == 2
        async with registering(port=unused_port) as registry:
            await registry.register(two.address, name="y", instance_id="i9")
            await eventually(lambda: "i9" in {known.instance_id for known in directory.instances()})
            assert sorted(known.info.name for known in directory.instances()) == ["x", "y"]
            clock.advance(REMEMBER_SECONDS)
            assert [known.info.name for known in directory.instances()] == ["y"]
            await directory.stop()


@pytest.mark.parametrize(("urgent", "limit"), [(True, URGENT_SECONDS), (False, PATIENT_SECONDS)])
def test_pauses_grow_to_their_limit(*, urgent: bool, limit: float) -> None:
    """They double, never pass the limit, never vanish, and start again after success."""
    backoff = Backoff()
    pauses = [backoff.next(urgent=urgent) for _ in range(20)]
    assert 0.1 <= pauses[0] <= 0.2
    assert all(limit / 2 <= pause <= limit for pause in pauses[10:])
    backoff.reset()
    assert backoff.next(urgent=urgent) <= 0.2
