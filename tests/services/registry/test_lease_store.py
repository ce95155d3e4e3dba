"""The registry's memory on Leases, between two replicas and over a restart, on an API in memory."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from slipway.kubernetes_api.failures import Invalid, Unreachable
from slipway.kubernetes_api.resources import Json
from slipway.registry.instance import NOT_READY, READY, Instance
from slipway.registry.lease_store import LeaseStore
from tests.services.kubernetes_api.memory_api import Call, MemoryApi
from tests.services.registry.conftest import FakeClock, info


class WatchedApi(MemoryApi):
    """Tells every change of a Lease to all who watch."""

    def __init__(self) -> None:
        super().__init__()
        self.watchers: list[asyncio.Queue[Json]] = []
        self.connection = self

    def put(self, item: Json) -> Json:
        found = super().put(item)
        self._tell("MODIFIED", found)
        return found

    async def list(self, *_: Any, **__: Any) -> tuple[list[Json], str]:
        return [one for one in self.all("Lease") if _is_instance(one)], "1"

    async def watch(self, *_: Any, **__: Any) -> AsyncIterator[Json]:
        queue: asyncio.Queue[Json] = asyncio.Queue()
        self.watchers.append(queue)
        while True:
            yield await queue.get()

    async def delete(self, resource: Any, namespace: str, name: str, **more: Any) -> Json:
        found = self.find(resource.kind, name, namespace)
        answer = await super().delete(resource, namespace, name, **more)
        if found is not None:
            self._tell("DELETED", found)
        return answer

    def _tell(self, type_: str, found: Json) -> None:
        for queue in self.watchers if _is_instance(found) else ():
            queue.put_nowait({"type": type_, "object": found})


def _is_instance(item: Json) -> bool:
    return (item["metadata"].get("labels") or {}).get("bootstrap.slipway.dev/registry") == "instance"


@pytest.fixture
def api() -> WatchedApi:
    return WatchedApi()


def _instance(*, expires: float | None = 1030.0, **more: Any) -> Instance:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    known = Instance(
        name="x",
        instance_id="i1",
        endpoint="localhost:1",
        info=info(),
        state=READY,
        state_reason="",
        identity="spiffe://slipway/provisioner/x",
        register_time=moment,
        renew_time=moment,
        lease_id="lease",
        expires=expires,
    )
    return replace(known, **more)


async def _opened(api: WatchedApi, clock: FakeClock) -> tuple[LeaseStore, asyncio.Event]:
    store = LeaseStore(api, namespace="default", ttl=30, clock=clock, pause=0.01)  # type: ignore[arg-type]
    told = asyncio.Event()
    await store.open(told.set)
    return store, told


async def _until(event: asyncio.Event) -> None:
    async with asyncio.timeout(30):
        await event.wait()
    event.clear()


async def test_a_restart_forgets_nothing(api: WatchedApi) -> None:
    """The next process has the same instance with the same lease and a full term, and the same epoch."""
    first, _ = await _opened(api, FakeClock())
    first.put(_instance())
    await first.close()
    clock = FakeClock()
    second, _ = await _opened(api, clock)
    assert second.epoch == first.epoch != ""
    (found,) = second.all()
    assert replace(found, expires=None) == replace(_instance(), expires=None)
    assert found.expires == clock.monotonic() + 30
    await second.close()


async def test_replicas_see_each_others_instances(api: WatchedApi) -> None:
    """What one registers, renews or forgets, the other knows, and tells whoever watches it."""
    one, _ = await _opened(api, FakeClock())
    clock = FakeClock()
    two, told = await _opened(api, clock)
    one.put(_instance())
    await _until(told)
    assert [known.lease_id for known in two.all()] == ["lease"]
    one.put(_instance(renew_time=datetime(2026, 11, 1, 0, 0, 10, tzinfo=UTC)))
    await _until(told)
    one.put(_instance(state=NOT_READY, renew_time=datetime(2026, 11, 1, 0, 0, 10, tzinfo=UTC)))
    await _until(told)
    assert two.all()[0].state == NOT_READY
    one.remove(_instance())
    await _until(told)
    assert list(two.all()) == []
    await one.close()
    await two.close()


async def test_a_static_instance_never_ends(api: WatchedApi) -> None:
    """It has no lease, in the next process neither."""
    first, _ = await _opened(api, FakeClock())
    first.put(_instance(expires=None, lease_id=""))
    await first.close()
    second, _ = await _opened(api, FakeClock())
    assert second.all()[0].is_static
    await second.close()


async def test_what_could_not_be_written_is_written_later(api: WatchedApi) -> None:
    """The API server is away for a moment: reading goes on at once, and the object follows."""
    store, _ = await _opened(api, FakeClock())
    written = asyncio.Event()
    failures = iter([True, True])

    def away(call: Call) -> None:
        if call[0] == "create" and next(failures, False):
            raise Unreachable(call[0], call[1])

    def heard(call: Call) -> None:
        if call[0] == "create" and call[1] == "Lease":
            written.set()

    api.before, api.after = away, heard
    store.put(_instance())
    assert [one.name for one in store.all()] == ["x"]
    await _until(written)
    await store.close()


async def test_what_is_on_its_way_wins_over_what_was(api: WatchedApi) -> None:
    """An older state that the watch tells late does not undo a newer one that is not written yet."""
    store, told = await _opened(api, FakeClock())
    written = asyncio.Event()
    api.after = lambda call: written.set() if call[0] == "create" else None
    store.put(_instance())
    await _until(written)
    lease = next(one for one in api.all("Lease") if _is_instance(one))

    def away(call: Call) -> None:
        raise Unreachable(call[0], call[1])

    api.before = away
    store.put(_instance(state=NOT_READY))
    lease["spec"]["renewTime"] = "2026-11-01T00:00:05.000000Z"
    told.clear()
    api.put(lease)
    for _ in range(20):
        await asyncio.sleep(0)
    assert store.all()[0].state == NOT_READY
    api.before = lambda _: None
    await store.close()


async def test_a_broken_object_harms_nobody(api: WatchedApi) -> None:
    """Somebody has edited a Lease: it is left out, the others stay."""
    store, _ = await _opened(api, FakeClock())
    store.put(_instance())
    store.put(_instance(instance_id="i2", endpoint="localhost:2"))
    await store.close()
    broken = next(lease for lease in api.all("Lease") if lease["spec"].get("holderIdentity") == "i2")
    broken["metadata"]["annotations"]["bootstrap.slipway.dev/advertisement"] = "%"
    api.put(broken)
    again, _ = await _opened(api, FakeClock())
    assert [one.instance_id for one in again.all()] == ["i1"]
    await again.close()


async def test_every_change_is_written(api: WatchedApi) -> None:
    """The second and third write of an instance arrive as well: each names the version that it follows."""
    store, _ = await _opened(api, FakeClock())
    written = asyncio.Event()
    api.after = lambda call: written.set() if call[0] in {"create", "replace"} else None
    for second in range(3):
        store.put(_instance(renew_time=datetime(2026, 11, 1, 0, 0, second, tzinfo=UTC)))
        await _until(written)
    (lease,) = [one for one in api.all("Lease") if _is_instance(one)]
    assert lease["spec"]["renewTime"] == "2026-11-01T00:00:02.000000Z"
    await store.close()


async def test_an_object_that_fails_keeps_no_other_from_being_written(api: WatchedApi) -> None:
    """One Lease is refused again and again; the other one is written, and its renewal too."""
    store, _ = await _opened(api, FakeClock())
    bad = ""

    def refused(call: Call) -> None:
        nonlocal bad
        if call[0] in {"create", "replace"} and bad in {"", call[3]}:
            bad = call[3]
            raise Invalid(*call[:2])

    written = asyncio.Event()
    api.before = refused
    api.after = lambda call: written.set() if call[0] in {"create", "replace"} else None
    store.put(_instance())
    store.put(_instance(name="y", info=info(name="y")))
    await _until(written)
    later = datetime(2026, 11, 1, 0, 0, 10, tzinfo=UTC)
    store.put(_instance(name="y", info=info(name="y"), renew_time=later))
    await _until(written)
    (lease,) = [one for one in api.all("Lease") if _is_instance(one)]
    assert lease["spec"]["renewTime"] == "2026-11-01T00:00:10.000000Z"
    api.before = lambda _: None
    await store.close()
    assert len([one for one in api.all("Lease") if _is_instance(one)]) == 2


@pytest.mark.parametrize(
    ("changed", "state", "reason"),
    [
        ("2026-11-01T00:00:20.000000Z", READY, "the other one renewed, and knows more than we who judged"),
        ("2026-11-01T00:00:00.000000Z", NOT_READY, "nobody renewed: the newer judgement counts"),
    ],
)
async def test_a_race_of_two_replicas_is_looked_at(api: WatchedApi, changed: str, state: int, reason: str) -> None:
    """A replica that writes upon a version that is gone reads the object, and undoes no renewal that it did not see."""
    store, _ = await _opened(api, FakeClock())
    written = asyncio.Event()
    api.after = lambda call: written.set() if call[0] == "create" else None
    store.put(_instance())
    await _until(written)
    api.watchers.clear()
    (lease,) = [one for one in api.all("Lease") if _is_instance(one)]
    lease["spec"]["renewTime"] = changed
    api.put(lease)
    store.put(_instance(state=NOT_READY))
    await store.close()
    (lease,) = [one for one in api.all("Lease") if _is_instance(one)]
    assert store.all()[0].state == state, reason
    assert lease["spec"]["renewTime"] == changed
