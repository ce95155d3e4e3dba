"""Machines that download machineadm from a node gateway, and become nodes by it."""

import pytest

from slipway.bootstrapper.artifacts.agent import DOWNLOADED
from tests.node.gateway import gateway
from tests.node.harbour import SECONDS, failure
from tests.node.readiness import wait_ready
from tools.node.first_disk import FirstBoot

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]


@pytest.mark.parametrize(
    ("by", "address"), [(FirstBoot.CLOUD_INIT, "169.254.20.1"), (FirstBoot.IGNITION, "169.254.20.2")]
)
def test_a_machine_downloads_its_agent_and_becomes_a_node(harbour, engine, by, address):
    """The first mirror is dead, the second is the gateway: machineadm executes the bootstrap, and the node is Ready."""
    name = f"agent-{by.value}"
    with gateway(harbour, engine, address) as one:
        one.start()
        worker = harbour.worker(name, by=by, **one.spec)
        worker.wait_sentinel(timeout=SECONDS)
        wait_ready(harbour.control_plane, name)
        assert worker.run(["cat", "/var/executor"]).output.strip() == DOWNLOADED
        status = worker.run([DOWNLOADED, "status"])
        assert (status.status, worker.failures()) == (0, [])


def test_a_tampered_agent_is_never_executed(harbour, engine):
    """Other bytes than those that were signed are never put in place; after the last try the record names the host."""
    with gateway(harbour, engine, "169.254.20.3") as one:
        one.start()
        one.blob.write_bytes(one.blob.read_bytes()[:-1] + b"?")
        one.spec["agent"]["urls"] = [f"https://{one.address}"]
        worker = harbour.worker("tampered", **one.spec)
        record, tail = failure(worker)
        assert record["phase"] == "PHASE_PREPARE"
        assert f"{one.address}: no answer, or another content" in tail
        assert not worker.exists(DOWNLOADED)
        assert not worker.exists("/var/executor")


def test_a_gateway_that_comes_late_is_waited_for(harbour, engine):
    """It is away when the machine boots, and there after the first round of mirrors: nothing has failed."""
    with gateway(harbour, engine, "169.254.20.4") as one:
        worker = harbour.worker("late", **one.spec)
        log = "/run/slipway/log"
        worker.wait_until(
            lambda: worker.exists(log) and "no URL gave" in worker.run(["cat", log]).output,
            "no round of mirrors has ended", timeout=SECONDS, asks=True,
        )  # fmt: skip
        one.start()
        worker.wait_sentinel(timeout=SECONDS)
        wait_ready(harbour.control_plane, "late")
        assert worker.failures() == []
