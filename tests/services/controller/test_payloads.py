"""User data that machines fetch: what is stored, in which order, for how long, and for whom it is refused."""

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from pydantic import ValidationError

from slipway.bootstrapper.delivery.fetching import FOLDER, Fetching
from slipway.controller.machine_report import MachineReport
from slipway.controller.payloads import NOTES, Payloads
from slipway.controller.settings import ControllerSettings
from slipway.reports.objects import Objects
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.scene import Scene, config_object, machine_object
from tests.services.kubernetes_api.memory_api import Call
from tests.services.node_gateway.served import TICKET, gateway

BASE = "https://gateway.example.com:8443"
CANARY = "Zq7CanaryValue"
SPEC: dict[str, Any] = {
    "provisioner": {"name": "cloud-init"},
    "target": {"osFamily": "Linux", "distribution": "debian", "osVersion": "12", "infrastructure": "metal"},
    "os": {"files": [{"path": "/etc/canary", "content": {"text": CANARY}}]},
    "delivery": {"mode": "Fetch"},
}


class Killed(BaseException):
    """The process was killed: nothing of ours may catch it."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Objects]:
    """Give an empty store."""
    objects = Objects.of((tmp_path / "store").as_uri())
    yield objects
    objects.close()


@pytest.fixture
def fetching(scene: Scene, store: Objects) -> Scene:
    """Give a scene whose machines may fetch."""
    scene.payloads = Payloads(store, Fetching(frozenset({"metal"}), BASE))
    scene.restart()
    return scene


def stored(store: Objects) -> dict[str, bytes]:
    """Give all payloads by name."""
    return {path.removeprefix("payload/"): store.get(path) or b"" for path, _ in store.paths("payload")}


def ticket_of(stub: bytes) -> str:
    """Give the ticket in the stub of cloud-init."""
    matched = re.search(rb"Bearer ([A-Za-z0-9_-]{43})\"", stub)
    assert matched is not None
    return matched[1].decode()


def annotations(scene: Scene) -> dict[str, str]:
    """Give the annotations of the data Secret."""
    return dict((scene.api.find("Secret", "w") or {})["metadata"]["annotations"])


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


@pytest.mark.parametrize("point", range(4))
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


REFUSED = [
    ({"target": {**SPEC["target"], "infrastructure": "aws"}}, "FeatureDenied", "an infrastructure that is not allowed"),
    ({"target": {**SPEC["target"], "infrastructure": ""}}, "FeatureDenied", "an infrastructure that is not known"),
    ({"provisioner": {"name": "ignition", "format": "ignition/2.3.0"}}, "UnsupportedTarget", "no header in spec 2"),
]


@pytest.mark.parametrize(("change", "reason", "why"), REFUSED, ids=[row[2] for row in REFUSED])
async def test_what_cannot_be_fetched_is_refused(
    fetching: Scene, store: Objects, change: dict[str, Any], reason: str, why: str
) -> None:
    """It is refused with the field, before anything is stored."""
    fetching.worker(spec={**SPEC, **change})
    await fetching.reconcile()
    status, actual, message = fetching.condition()
    assert (status, actual) == ("False", reason), why
    assert "delivery" in message
    assert stored(store) == {}
    assert fetching.api.find("Secret", "w") is None


async def test_a_pool_is_refused(fetching: Scene, store: Objects) -> None:
    """One Secret serves all machines of a pool, so each of them could fetch the payload of the others."""
    fetching.pool(spec=SPEC)
    await fetching.reconcile("p")
    assert fetching.condition("p")[:2] == ("False", "DeliveryRefused")
    assert stored(store) == {}


async def test_a_provider_that_wraps_user_data_is_refused(fetching: Scene, store: Objects) -> None:
    """The machine would get something else than the stub."""
    fetching.payloads = Payloads(store, Fetching(frozenset({"aws"}), BASE))
    fetching.restart()
    target = {key: value for key, value in SPEC["target"].items() if key != "infrastructure"}
    fetching.worker(spec={**SPEC, "target": target}, infrastructureRef={"kind": "AWSMachine", "name": "w"})
    await fetching.reconcile()
    assert fetching.condition()[:2] == ("False", "DeliveryRefused")
    assert stored(store) == {}


async def test_without_a_store_nothing_is_fetched(scene: Scene) -> None:
    """The operator has not allowed it."""
    scene.worker(spec=SPEC)
    await scene.reconcile()
    assert scene.condition()[:2] == ("False", "FeatureDenied")


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


BUCKET = "https://s3.eu-central-1.amazonaws.com/bucket/slipway"
ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "x", "AWS_REGION": "eu-central-1"}
PRESIGNED: dict[str, Any] = {
    "insecure": True,
    "listen_address": "127.0.0.1:1",
    "embedded_provisioners": "cloud-init",
    "fetch_infrastructures": "metal",
    "payload_store": "s3://bucket/slipway",
    "payload_presigned": True,
}


@pytest.fixture
def credential(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Give the process a credential for S3 that does not expire."""
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


async def test_a_presigned_address_needs_no_ticket(
    scene: Scene, store: Objects, credential: pytest.MonkeyPatch
) -> None:
    """The stub has the address of one object, signed for a day and an hour; the Secret's annotation opens nothing."""
    del credential
    signing = ControllerSettings(**PRESIGNED, payload_url_base=BUCKET).payloads()
    assert signing is not None
    scene.payloads = replace(signing, objects=StoredElsewhere(signing.objects.store, store.threads, kept=store))
    scene.restart()
    scene.worker(spec=SPEC)
    await scene.reconcile()
    ((name, _),) = stored(store).items()
    stub = scene.value()
    assert f'url="{BUCKET}/payload/{name}?X-Amz-Algorithm='.encode() in stub
    assert b"X-Amz-Expires=90000" in stub
    assert b"Bearer" not in stub
    assert len(stub) <= 2048
    assert annotations(scene)["bootstrap.slipway.dev/payload"] == f"{BUCKET}/payload/{name}"
    before = scene.value()
    scene.later(minutes=5)
    await scene.reconcile()
    assert scene.value() == before
    signing.objects.close()


@dataclass(frozen=True)
class StoredElsewhere(Objects):
    """Signs for a bucket, and keeps the objects in a folder."""

    kept: Objects | None = None

    def put(self, path: str, data: bytes) -> None:
        """Write to the folder."""
        assert self.kept is not None
        self.kept.put(path, data)

    def paths(self, folder: str, *, after: str = "") -> Iterator[tuple[str, int]]:
        """Read from the folder."""
        assert self.kept is not None
        return self.kept.paths(folder, after=after)


@pytest.mark.parametrize(
    ("change", "environment", "message"),
    [
        ({}, {"AWS_SESSION_TOKEN": "token"}, "a credential that does not expire"),
        ({"payload_url_base": "https://other.example.com"}, {}, "must be the address of --payload-store"),
    ],
    ids=["a session", "another address"],
)
def test_addresses_that_would_not_open_end_at_the_start(
    credential: pytest.MonkeyPatch, change: dict[str, Any], environment: dict[str, str], message: str
) -> None:
    """A machine that boots after 20 hours shall not be the first to learn of it."""
    for name, value in environment.items():
        credential.setenv(name, value)
    with pytest.raises(click.UsageError, match=message):
        ControllerSettings(**{**PRESIGNED, "payload_url_base": BUCKET, **change}).payloads()


def test_only_s3_signs_for_a_day() -> None:
    """What other stores sign, and for how long, is not known here."""
    with pytest.raises(ValidationError, match="needs a --payload-store of s3"):
        ControllerSettings(**{**PRESIGNED, "payload_store": "gs://bucket"}, payload_url_base=BUCKET)


@pytest.mark.parametrize(
    "url", ["https://gateway.example.com/v1/bootstrap/", "https://elsewhere.example.com/%s", "%s", ""]
)
async def test_an_address_that_is_no_payload_deletes_nothing(fetching: Scene, store: Objects, url: str) -> None:
    """Whoever may write a Secret chooses what its annotations say."""
    payloads = fetching.payloads
    assert payloads is not None
    name = "a" * 64
    for path in (f"{FOLDER}/{name}", f"{NOTES}/{name}/1"):
        store.put(path, b"x")
    await payloads.delete(url.replace("%s", name))
    assert store.get(f"{FOLDER}/{name}") == store.get(f"{NOTES}/{name}/1") == b"x"
    await payloads.delete(payloads.fetching.url(name))
    assert store.get(f"{FOLDER}/{name}") is store.get(f"{NOTES}/{name}/1") is None
