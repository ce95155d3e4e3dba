"""Machines whose user data is a stub: they fetch it, with their agent, from a node gateway, and become nodes by it."""

import hashlib
import re
import shutil

import pytest

from slipway.bootstrapper.artifacts.agent import DOWNLOADED
from slipway.bootstrapper.delivery.fetching import ticket_of_request
from tests.node.gateway import Gateway, gateway
from tests.node.harbour import COUNT, SECONDS, count, script
from tests.node.readiness import wait_ready
from tests.node.test_interruptions import held, holds
from tools.node.first_disk import FirstBoot
from tools.node.machine import SENTINEL, Machine
from tools.oracles.network import Answer, Site

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SEED = "/var/lib/cloud/seed/nocloud/user-data"
LOG = "/var/log/cloud-init-output.log"
CANARY = "Zq7CanaryValue"
FILE = {"path": "/etc/canary", "content": {"text": CANARY}, "mode": "0600"}


def _has_fetched(source: Gateway, machine: Machine) -> None:
    """Check that what the infrastructure has is a stub, and that the machine was made by the payload alone."""
    (payload,) = (source.store / "payload").iterdir()
    stub = machine.run(["cat", SEED]).output
    assert len(stub) <= 2048
    assert hashlib.sha256(payload.read_bytes()).hexdigest() in stub
    token = re.search(rb"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", payload.read_bytes())
    assert token is not None
    assert [word in stub for word in (CANARY, token[0].decode())] == [False, False]
    assert machine.run(["stat", "-c", "%a %u", "/etc/slipway/payload"]).output.strip() == "600 0"
    assert machine.run(["cat", "/etc/canary"]).output == CANARY


def _secrets_in_logs(machine: Machine) -> list[str]:
    """Give the logs of a machine that hold the canary, or a ticket."""
    ticket = re.search(r"Bearer ([\w-]{43})", machine.run(["cat", SEED]).output)
    assert ticket is not None
    words = [word for value in (CANARY, ticket[1]) for word in ("-e", value)]
    holding = machine.run(["grep", "-rlF", *words, "/var/log", "/run/slipway"]).output.split()
    texts = {"journal": machine.journal(), "console": machine.serial()}
    return [*holding, *(name for name, text in texts.items() if CANARY in text or ticket[1] in text)]


def test_a_machine_fetches_its_user_data_and_becomes_a_node(harbour, engine):
    """The gateway has both, agent and payload; no log has a secret; after that the source may be gone for ever."""
    with gateway(harbour, engine, "169.254.21.1") as source:
        source.delivering(harbour)
        source.start()
        source.spec["os"]["files"] = [FILE]
        worker = harbour.worker("fetched", **source.spec)
        worker.wait_sentinel(timeout=SECONDS)
        wait_ready(harbour.control_plane, "fetched")
        _has_fetched(source, worker)
        assert worker.run(["cat", "/var/executor"]).output.strip() == DOWNLOADED
        assert _secrets_in_logs(worker) == []
        assert "Bearer" not in source.place.served
        shutil.rmtree(source.store / "payload")
        since = float(worker.run(["date", "+%s"]).output)
        worker.cut_power()
        worker.boot()
        wait_ready(harbour.control_plane, "fetched", since=since)
        assert worker.failures() == []


def test_power_cut_between_node_and_post(harbour, engine):
    """The machine has joined when its power is cut in the phase post: it ends from its disk, the payload being gone."""
    with gateway(harbour, engine, "169.254.21.5") as source:
        source.delivering(harbour)
        source.start()
        commands = {"pre": [script(COUNT.format("pre"))], "post": [holds("post")]}
        worker = harbour.worker("fetched-and-cut", **source.spec | {"commands": commands})
        worker.wait_until(lambda: held(worker, "post"), "post did not begin", timeout=SECONDS)
        harbour.wait_joined("fetched-and-cut")
        shutil.rmtree(source.store / "payload")
        worker.cut_power()
        assert not worker.exists(SENTINEL)
        worker.boot()
        worker.wait_sentinel(timeout=SECONDS)
        wait_ready(harbour.control_plane, "fetched-and-cut")
        assert [count(worker, name) for name in ("pre", "post")] == [1, 2]


def test_a_gateway_that_comes_late_is_waited_for(harbour, engine):
    """It is away when the machine boots, and there after its first tries: nothing has failed."""
    with gateway(harbour, engine, "169.254.21.2") as source:
        source.delivering(harbour)
        source.spec["os"]["files"] = [FILE]
        worker = harbour.worker("late-payload", **source.spec)
        worker.wait_until(lambda: _tries(worker) >= 3, "curl was not tried", timeout=SECONDS, asks=True)
        assert not worker.exists("/etc/canary")
        source.start()
        worker.wait_sentinel(timeout=SECONDS)
        wait_ready(harbour.control_plane, "late-payload")
        _has_fetched(source, worker)


def test_a_tampered_payload_is_never_executed(harbour, engine):
    """Other bytes than those of the stub's hash are tried again and again, and never handed to cloud-init."""
    with gateway(harbour, engine, "169.254.21.3") as source:

        def tamper(name: str, payload: bytes) -> None:
            assert CANARY.encode() in payload
            source.keep(name, payload.replace(CANARY.encode(), CANARY[::-1].encode()))

        source.delivering(harbour, store=tamper)
        source.start()
        source.spec["os"]["files"] = [FILE]
        worker = harbour.worker("tampered-payload", **source.spec)
        worker.wait_until(lambda: _tries(worker) >= 3, "the payload was not tried", timeout=SECONDS, asks=True)
        assert not worker.exists("/etc/canary")
        assert not worker.exists("/var/lib/slipway/plan")
        assert not worker.exists("/var/executor")


def test_ignition_fetches_its_config_and_becomes_a_node(harbour, engine):
    """Ignition replaces the stub by the payload, from a server with an authority of its own."""
    address, port = "127.0.0.1", 8443
    sites: list[Site] = []
    with gateway(harbour, engine, "169.254.21.4") as source:

        def serve(name: str, payload: bytes) -> None:
            shown = f"authorization: bearer {ticket_of_request(payload).lower()}"
            answers = {f"/payload/{name}": Answer(payload, needs=shown)}
            sites.append(Site(address, port, answers, certificate=source.certificate_for(address)))

        source.delivering(harbour, f"https://{address}:{port}", store=serve)
        source.start()
        source.spec["os"]["files"] = [FILE]
        worker = harbour.worker("fetched-ignition", by=FirstBoot.IGNITION, sites=sites, **source.spec)
        worker.wait_sentinel(timeout=SECONDS)
        wait_ready(harbour.control_plane, "fetched-ignition")
        assert worker.run(["cat", "/etc/canary"]).output == CANARY
        assert worker.run(["cat", "/var/executor"]).output.strip() == DOWNLOADED


def _tries(machine: Machine) -> int:
    """Give how often the stub compared what it had with its hash, in vain."""
    return machine.run(["cat", LOG]).output.count("payload: FAILED") if machine.exists(LOG) else 0
