"""The bootstrap token of a MachinePool over time, in a real workload cluster."""

import re
from datetime import timedelta

import pytest

from slipway.controller.timeouts import Timeouts
from tests.controller.site import OURS, Site, joining
from tools.cluster.topology import CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

TTL = timedelta(seconds=20)
ROTATION = "bootstrap.slipway.dev/token-rotation"


async def test_a_pool_that_has_joined_gets_a_new_token(site: Site) -> None:
    """When half of its time is over: the same Secret under its name, another token, which the cluster accepts."""
    config = {
        "apiVersion": OURS,
        "kind": "SlipwayConfig",
        "metadata": {"name": "pool", "namespace": site.namespace},
        "spec": joining({"provisioner": {"name": "cloud-init"}}),
    }
    async with site.controller(timeouts=Timeouts(token_ttl=TTL, quiet_seconds=0.5)):
        await site.cluster()
        await site.apply(*site.topology.machine_pool(config, name="pool", replicas=2))
        before = await site.until("v1", "Secret", "pool", lambda one: one["metadata"]["annotations"][ROTATION] == "0")
        first = _token(await site.secret("pool"))
        await site.until(CORE, "MachinePool", "pool", lambda one: len(one["status"].get("nodeRefs") or ()) == 2)
        after = await site.until("v1", "Secret", "pool", lambda one: one["metadata"]["annotations"][ROTATION] != "0")
        second = _token(await site.secret("pool"))
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert second.partition(".")[0] != first.partition(".")[0]
        name = f"bootstrap-token-{second.partition('.')[0]}"
        assert site.workload.client.find("v1", "Secret", name, namespace="kube-system") is not None
        pool = await site.get(CORE, "MachinePool", "pool")
        assert pool["spec"]["template"]["spec"]["bootstrap"]["dataSecretName"] == "pool"


def _token(data: bytes) -> str:
    (found,) = set(re.findall(rb"\b[a-z0-9]{6}\.[a-z0-9]{16}\b", data))
    return found.decode()
