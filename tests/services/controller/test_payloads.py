"""User data that machines fetch: what is stored, in which order, and for how long."""

import asyncio
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from slipway.bootstrapper.delivery.fetching import FOLDER, Fetching, Payload
from slipway.controller.data_secret import PAYLOAD
from slipway.controller.machine_report import MachineReport
from slipway.controller.payloads import NOTES, OWNERS, Payloads
from slipway.reports.objects import Objects
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.payload_scene import BASE, CANARY, SPEC, annotations, stored, ticket_of
from tests.services.controller.scene import Scene, config_object, machine_object
from tests.services.kubernetes_api.memory_api import Call
from tests.services.node_gateway.served import TICKET, gateway


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


async def test_the_secret_has_a_stub_and_the_store_the_user_data(fetching: Scene, store: Objects) -> None:
    """The payload is what inline user data would be; its name is that of the ticket, and the stub has its hash."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    ((name, payload),) = stored(store).items()
    stub = fetching.value()
    assert len(stub) <= 2048
    assert hashlib.sha256(ticket_of(stub).encode()).hexdigest() == name
    assert hashlib.sha256(payload).hexdigest().encode() in stub
    assert f"{BASE}/payload/{name}".encode() in stub
    assert CANARY.encode() in payload
    assert yaml.safe_load(payload)["write_files"]
    assert fetching.condition() == ("True", "Available", "")
    assert annotations(fetching)["bootstrap.slipway.dev/payload"] == f"{BASE}/payload/{name}"
    assert ticket_of(stub) not in repr(annotations(fetching)) + repr(fetching.status())


async def test_nothing_of_the_spec_is_in_the_stub(fetching: Scene, store: Objects) -> None:
    """No content of a file, no token and no key of the cluster: who reads the user data needs the store as well."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    (payload,) = stored(store).values()
    (token,) = re.findall(rb"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", payload)[:1]
    stub = fetching.value()
    assert CANARY.encode() not in stub
    assert token not in stub


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


async def test_a_payload_is_kept_half_an_hour_after_the_node_appeared(fetching: Scene, store: Objects) -> None:
    """Not earlier, since the machine may not be complete; then it is gone, and the Secret names none any more."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    machine = fetching.api.find("Machine", "w") or {}
    fetching.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    following = await fetching.reconcile()
    assert following.after == pytest.approx(1800)
    fetching.later(minutes=29)
    assert (await fetching.reconcile()).after == pytest.approx(60)
    assert stored(store)
    fetching.later(minutes=2)
    assert (await fetching.reconcile()).after is None
    assert stored(store) == {}
    assert not {key for key in annotations(fetching) if "payload" in key or "node-seen" in key}
    before = len(fetching.api.writes)
    await fetching.reconcile()
    assert len(fetching.api.writes) == before


@pytest.mark.parametrize(("joined", "remaining"), [(True, 0), (False, 1)])
async def test_a_report_of_completion_counts_only_with_a_node(
    fetching: Scene, store: Objects, joined: bool, remaining: int
) -> None:
    """A complete machine needs its payload no more; but a report alone, which could be forged, deletes nothing."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    if joined:
        machine = fetching.api.find("Machine", "w") or {}
        fetching.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    bundle = annotations(fetching)["bootstrap.slipway.dev/bundle-id"]
    report = MachineReport(bundle, reportspb.REPORT_STATE_COMPLETE, of_console=False)
    facts = replace(fetching.facts(), report=report)
    await fetching.reconciler.reconcile(facts, waited=lambda _: 1000.0)
    assert len(stored(store)) == remaining


async def test_a_payload_ends_with_its_token(fetching: Scene, store: Objects) -> None:
    """A machine may boot after 20 hours and finds it; after a day its token is given up, and so is the payload."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    fetching.later(hours=20)
    await fetching.reconcile()
    assert stored(store)
    fetching.later(hours=5)
    await fetching.reconcile()
    assert stored(store) == {}


async def test_a_first_machine_fetches_as_well(scene: Scene, store: Objects) -> None:
    """It has no token that would be refreshed, and its payload, with the keys of the cluster, still ends."""
    scene = Scene(payloads=Payloads(store, Fetching(frozenset({"metal"}), BASE)))
    scene.cluster(initialized=False)
    owner = scene.api.put(machine_object("w", control_plane=True))
    scene.api.put(config_object("w", spec=SPEC, owner=owner))
    await scene.reconcile()
    assert scene.condition() == ("True", "Available", ""), scene.condition()
    assert stored(store)
    assert b"PRIVATE KEY" not in scene.value()
    scene.later(hours=25)
    await scene.reconcile()
    assert stored(store) == {}


async def test_a_machine_of_another_controller_stops(fetching: Scene, store: Objects) -> None:
    """After a move its payload may be nowhere: the condition says so, unless the node has joined already."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    fetching.payloads = Payloads(store, Fetching(frozenset({"metal"}), "https://other.example.com"))
    fetching.restart()
    await fetching.reconcile()
    assert fetching.condition()[:2] == ("False", "PayloadElsewhere")
    machine = fetching.api.find("Machine", "w") or {}
    fetching.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    await fetching.reconcile()
    assert fetching.condition()[:2] == ("True", "Available")
    assert stored(store)


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


async def test_ignition_fetches_as_well(fetching: Scene, store: Objects) -> None:
    """The stub is one of Ignition's."""
    fetching.worker(spec={**SPEC, "provisioner": {"name": "ignition"}})
    await fetching.reconcile()
    ((name, _),) = stored(store).items()
    assert yaml.safe_load(fetching.value())["ignition"]["config"]["replace"]["source"] == f"{BASE}/payload/{name}"
    assert fetching.value(key="format") == b"ignition"


async def test_the_gateway_serves_what_the_controller_stores(fetching: Scene, store: Objects, tmp_path: Path) -> None:
    """The machine's own ticket opens its payload; that of another machine, and none, open nothing."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    ((name, payload),) = stored(store).items()
    ticket = ticket_of(fetching.value())
    async with gateway(tmp_path / "store") as client:
        answers = []
        for shown in (ticket, TICKET, ""):
            headers = {"Authorization": f"Bearer {shown}"}
            async with client.get(f"/payload/{name}", headers=headers) as answer:
                answers.append((answer.status, await answer.read() == payload))
        assert answers == [(200, True), (404, False), (404, False)]


async def test_a_payload_that_is_fetched_again_is_an_event(fetching: Scene, store: Objects, tmp_path: Path) -> None:
    """Once is what a machine does; twice is a Warning with the addresses, written once, and the notes end with it."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    ((name, _),) = stored(store).items()
    headers = {"Authorization": f"Bearer {ticket_of(fetching.value())}"}
    for events in (0, 1):
        async with (
            gateway(tmp_path / "store", payload_notes=(tmp_path / "store").as_uri()) as client,
            client.get(f"/payload/{name}", headers=headers) as answer,
        ):
            assert answer.status == 200
            await answer.read()
        await fetching.reconcile()
        await fetching.reconcile()
        warnings = [event for event in fetching.api.all("Event") if event["reason"] == "PayloadFetchedAgain"]
        assert len(warnings) == events
    assert "2 times, from 127.0.0.1" in warnings[0]["message"]
    fetching.later(hours=25)
    await fetching.reconcile()
    assert not list(store.paths("fetched"))


async def test_canaries_are_in_the_payload_only_and_gone_after_completion(
    fetching: Scene, store: Objects, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Content, join token and ticket are in no log, event, condition or annotation, and no more in the store."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    ((name, payload),) = stored(store).items()
    ticket = ticket_of(fetching.value())
    token = re.search(rb"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", payload)
    assert token is not None
    async with (
        gateway(tmp_path / "store", payload_notes=(tmp_path / "store").as_uri()) as client,
        client.get(f"/payload/{name}", headers={"Authorization": f"Bearer {ticket}"}) as answer,
    ):
        assert (answer.status, await answer.read()) == (200, payload)
    bundle = annotations(fetching)["bootstrap.slipway.dev/bundle-id"]
    machine = fetching.api.find("Machine", "w") or {}
    fetching.api.put({**machine, "status": {"nodeRef": {"name": "w"}}})
    report = MachineReport(bundle, reportspb.REPORT_STATE_COMPLETE, of_console=False)
    await fetching.reconciler.reconcile(replace(fetching.facts(), report=report), waited=lambda _: 1000.0)
    assert name not in stored(store)
    assert not list(store.paths("fetched"))
    objects = (fetching.api.all("Event"), fetching.status(), annotations(fetching))
    shown = [*capsys.readouterr(), *map(repr, objects)]
    written = [path.read_text("latin-1") for path in (tmp_path / "store").rglob("*") if path.is_file()]
    assert "kind=payload" in shown[0]
    for secret in (CANARY, token[0].decode(), ticket):
        assert not any(secret in text for text in (*shown, *written))


@pytest.mark.parametrize(
    "url", ["https://gateway.example.com/v1/bootstrap/", "https://elsewhere.example.com/%s", "%s", ""]
)
async def test_an_address_that_is_no_payload_deletes_nothing(fetching: Scene, store: Objects, url: str) -> None:
    """The annotations of a Secret are chosen by those who may write it."""
    payloads = fetching.payloads
    assert payloads is not None
    name = "a" * 64
    for path in (f"{FOLDER}/{name}", f"{NOTES}/{name}/1", f"{OWNERS}/{name}"):
        store.put(path, b"x")
    await payloads.delete(url.replace("%s", name), namespace="x")
    assert store.get(f"{FOLDER}/{name}") == store.get(f"{NOTES}/{name}/1") == b"x"
    await payloads.delete(payloads.fetching.url(name), namespace="x")
    assert not any(list(store.paths(folder)) for folder in (FOLDER, NOTES, OWNERS))


async def test_a_secret_of_another_namespace_deletes_nothing(fetching: Scene, store: Objects) -> None:
    """Who knows a payload's name, and may write Secrets elsewhere, neither deletes it nor sees who fetched it."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    payloads, url = fetching.payloads, annotations(fetching)[PAYLOAD]
    assert payloads is not None
    for number in range(2):
        store.put(f"{NOTES}/{url.rpartition('/')[2]}/{number}", b"192.0.2.1")
    before = stored(store)
    await payloads.delete(url, namespace="elsewhere")
    payloads.forget(url, namespace="elsewhere")
    await asyncio.gather(*payloads._tasks)
    assert await payloads.fetches(url, namespace="elsewhere") == []
    assert stored(store) == before
    assert await payloads.fetches(url, namespace="default") == ["192.0.2.1"] * 2
    await payloads.delete(url, namespace="default")
    assert stored(store) == {}


async def test_a_secret_that_names_another_payload_deletes_only_its_own(fetching: Scene, store: Objects) -> None:
    """A tenant can edit the annotations of its data Secret, and the upkeep goes by them."""
    payloads, name = fetching.payloads, "a" * 64
    assert payloads is not None
    victim = Payload(name, payloads.fetching.url(name), b"keys")
    await payloads.store(victim, namespace="elsewhere")
    for number in range(2):
        store.put(f"{NOTES}/{name}/{number}", b"192.0.2.1")
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    secret = fetching.api.find("Secret", "w") or {}
    secret["metadata"]["annotations"][PAYLOAD] = victim.url
    fetching.api.put(secret)
    fetching.later(hours=25)
    await fetching.reconcile()
    assert stored(store)[name] == b"keys"
    assert "192.0.2.1" not in str(fetching.api.all("Event"))
