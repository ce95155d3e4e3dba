"""Two replicas and one Lease, on a clock that the test turns."""

import asyncio

import pytest

from slipway.kubernetes_api.election import Election, LeaseDurations, LostLeadership
from slipway.kubernetes_api.failures import Unreachable
from tests.services.kubernetes_api.memory_api import Call, MemoryApi


class Time:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.alarms: list[tuple[float, asyncio.Event]] = []

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        for due, event in self.alarms:
            if self.now >= due:
                event.set()
        await asyncio.sleep(0)

    async def until(self, due: float) -> None:
        """Wait until others have slept for so long."""
        event = asyncio.Event()
        self.alarms.append((due, event))
        async with asyncio.timeout(30):
            await event.wait()


@pytest.fixture
def api() -> MemoryApi:
    return MemoryApi()


def _election(api: MemoryApi, identity: str, time: Time) -> Election:
    return Election(
        api,  # type: ignore[arg-type]
        namespace="default",
        name="l",
        identity=identity,
        durations=LeaseDurations(lease=15, renew=10, retry=2),
        monotonic=time.monotonic,
        sleep=time.sleep,
    )


def _holder(api: MemoryApi) -> str:
    return str((api.find("Lease", "l") or {})["spec"]["holderIdentity"])


async def test_the_first_one_leads_and_the_second_waits_for_its_lease_to_run_out(api: MemoryApi) -> None:
    """A silent leader is followed after the length of a lease, as the follower's own clock sees it."""
    one, two = Time(), Time()
    await _election(api, "one", one).win()
    assert _holder(api) == "one"
    await _election(api, "two", two).win()
    assert two.now - 1000.0 >= 15
    assert two.now - 1000.0 <= 15 + 2 * 2
    assert _holder(api) == "two"
    assert (api.find("Lease", "l") or {})["spec"]["leaseTransitions"] == 1


async def test_a_lease_that_is_given_back_is_taken_at_once(api: MemoryApi) -> None:
    """A leader that ends in order costs nobody fifteen seconds."""
    first = _election(api, "one", Time())
    await first.win()
    await first.resign()
    two = Time()
    await _election(api, "two", two).win()
    assert two.now - 1000.0 <= 4


async def test_a_leader_that_renews_stays(api: MemoryApi) -> None:
    """As long as the lease changes, nobody else takes it, however long that goes on."""
    time = Time()
    leader, other = _election(api, "one", time), _election(api, "two", time)
    await leader.win()
    keeping = asyncio.ensure_future(leader.keep())
    winning = asyncio.ensure_future(other.win())
    await time.until(1200)
    assert not winning.done()
    for task in (keeping, winning):
        task.cancel()
    await asyncio.gather(keeping, winning, return_exceptions=True)


async def test_a_leader_that_can_not_renew_is_told_in_time(api: MemoryApi) -> None:
    """Before anybody else can lead it hears that it does not any more."""
    time = Time()
    leader = _election(api, "one", time)
    await leader.win()

    def away(call: Call) -> None:
        raise Unreachable(call[0], call[1])

    api.before = away
    with pytest.raises(LostLeadership):
        await leader.keep()
    assert 10 <= time.now - 1000.0 < 15


async def test_a_leader_that_sees_another_holder_gives_up(api: MemoryApi) -> None:
    """Whoever holds the lease writes; this one stops at its next look."""
    time = Time()
    leader = _election(api, "one", time)
    await leader.win()
    lease = api.find("Lease", "l") or {}
    lease["spec"]["holderIdentity"] = "two"
    api.put(lease)
    with pytest.raises(LostLeadership):
        await leader.keep()
    assert time.now - 1000.0 <= 2


async def test_a_lost_race_is_no_victory(api: MemoryApi) -> None:
    """Two that see an ended lease at the same time: the API server lets one of them have it."""
    time = Time()
    candidate = _election(api, "one", time)
    lease = {
        "kind": "Lease",
        "metadata": {"name": "l"},
        "spec": {"holderIdentity": "", "leaseDurationSeconds": 15},
    }
    api.put(lease)

    def quicker(call: Call) -> None:
        if call[0] == "replace" and _holder(api) == "":
            api.put({**lease, "spec": {"holderIdentity": "two", "leaseDurationSeconds": 15}})

    api.before = quicker
    winning = asyncio.ensure_future(candidate.win())
    await time.until(1004)
    assert _holder(api) == "two"
    winning.cancel()
    await asyncio.gather(winning, return_exceptions=True)
