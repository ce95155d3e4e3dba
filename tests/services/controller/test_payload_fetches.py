"""Payloads that the gateway serves: to whom, how often, and what of them is seen elsewhere."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from slipway.controller.machine_report import MachineReport
from slipway.reports.objects import Objects
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.payload_scene import CANARY, SPEC, annotations, stored, ticket_of
from tests.services.controller.scene import Scene
from tests.services.node_gateway.served import TICKET, gateway


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
