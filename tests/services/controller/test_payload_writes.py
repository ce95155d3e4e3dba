"""A process that dies, loses a race or finds no store while it writes a payload: nothing is left half done."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from slipway.reports.objects import Objects
from tests.services.controller.payload_scene import SPEC, stored, ticket_of
from tests.services.controller.scene import Scene, config_object, machine_object
from tests.services.kubernetes_api.memory_api import Call


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


@dataclass
class Death:
    """Kills the process before or after one of its writes, of whichever kind."""

    point: int
    writes: int = 0

    def strike(self, call: Call) -> None:
        """Count a call of an API, if it writes, and of the store."""
        if call[0] in {"create", "apply_status", "merge", "replace", "delete", "put"}:
            self.writes += 1
            if self.writes == self.point + 1:
                raise Killed


@dataclass(frozen=True)
class MortalObjects(Objects):
    """A store in whose writes the process may be killed."""

    before: Callable[[Call], None] = lambda _: None
    after: Callable[[Call], None] = lambda _: None

    def put(self, path: str, data: bytes) -> None:
        """Write an object."""
        self.before(("put", "payload", "", path))
        super().put(path, data)
        self.after(("put", "payload", "", path))


@pytest.mark.parametrize("point", range(5))
@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_at_any_write_the_next_process_comes_to_the_same(
    fetching: Scene, store: Objects, point: int, when: str
) -> None:
    """Between token, payload, Secret and status: the stub names a payload that is there, and no other one is left."""
    owner = machine_object("w")
    made = fetching.api.put({**owner, "metadata": {**owner["metadata"], "uid": "machine"}})
    fetching.api.put(config_object("w", spec=SPEC, owner=made, uid="config"))
    death, alive = Death(point), fetching.payloads
    assert alive is not None
    fetching.payloads = replace(alive, objects=MortalObjects(store.store, store.threads, **{when: death.strike}))
    fetching.restart()
    for api in (fetching.api, fetching.workload):
        setattr(api, when, death.strike)
    with pytest.raises(Killed):
        await fetching.reconcile()
    for api in (fetching.api, fetching.workload):
        setattr(api, when, lambda _: None)
    fetching.payloads = alive
    fetching.restart()
    await fetching.reconcile()
    await fetching.reconcile()
    ((name, payload),) = stored(store).items()
    assert hashlib.sha256(ticket_of(fetching.value()).encode()).hexdigest() == name
    assert hashlib.sha256(payload).hexdigest().encode() in fetching.value()
    assert fetching.condition() == ("True", "Available", "")


async def test_a_payload_that_lost_the_race_is_deleted(fetching: Scene, store: Objects) -> None:
    """Another process wrote the Secret of another render: its payload stays as it is, and ours is not left behind."""
    fetching.worker(spec=SPEC)
    stale = fetching.facts()
    await fetching.reconcile()
    before, secret = stored(store), fetching.value()
    config = dict(stale.config)
    config["spec"] = {**SPEC, "os": {"timeZone": {"name": "Europe/Berlin"}}}
    await fetching.reconciler.reconcile(replace(stale, config=config), waited=lambda _: 1000.0)
    assert stored(store) == before
    assert fetching.value() == secret


async def test_a_store_that_fails_is_tried_again(fetching: Scene, tmp_path: Path) -> None:
    """Without the payload there is no Secret: the machine is not created before it can fetch."""
    (tmp_path / "store" / "payload").parent.mkdir(exist_ok=True)
    (tmp_path / "store" / "payload").write_text("in the way")
    fetching.worker(spec=SPEC)
    following = await fetching.reconcile()
    assert following.failed
    assert fetching.condition()[:2] == ("False", "PayloadStoreUnavailable")
    assert fetching.api.find("Secret", "w") is None
    (tmp_path / "store" / "payload").unlink()
    await fetching.reconcile()
    assert fetching.condition()[:2] == ("True", "Available")
