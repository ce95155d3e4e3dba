"""User data that machines fetch: what is stored, in which order, and for how long."""

import hashlib
import re
from dataclasses import replace

import pytest
import yaml

from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.controller.machine_report import MachineReport
from slipway.controller.payloads import Payloads
from slipway.reports.objects import Objects
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.payload_scene import BASE, CANARY, SPEC, annotations, stored, ticket_of
from tests.services.controller.scene import Scene, config_object, machine_object


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


async def test_ignition_fetches_as_well(fetching: Scene, store: Objects) -> None:
    """The stub is one of Ignition's."""
    fetching.worker(spec={**SPEC, "provisioner": {"name": "ignition"}})
    await fetching.reconcile()
    ((name, _),) = stored(store).items()
    assert yaml.safe_load(fetching.value())["ignition"]["config"]["replace"]["source"] == f"{BASE}/payload/{name}"
    assert fetching.value(key="format") == b"ignition"
