"""Cluster API 1.12: a control plane of three, which only its in-memory infrastructure can play."""

import pytest

from services.controller import marks
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import is_done
from tests.controller.site import CLUSTER, Site, condition, runs
from tools.cluster.topology import CONTROL_PLANE, CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(700)]


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_control_plane_of_three(older: Site, provisioner: str) -> None:
    """KubeadmControlPlane begins with a machine of ours, lets two join, and is available; a worker follows."""
    chosen = {marks.PROVISIONER: provisioner}
    async with opting_in.webhook(older), older.controller(opt_in=True):
        await older.apply(*older.topology.cluster())
        await older.apply(*opting_in.control_plane(older.topology, replicas=3, annotations=chosen))
        await opting_in.workers(older, annotations=chosen)
        machines = await older.eventually(
            lambda: older.all(CORE, "Machine"), lambda found: len(found) == 4 and all(runs(one) for one in found)
        )
        await opting_in.configs(older, 4, is_done)
        await older.until(
            CONTROL_PLANE,
            "KubeadmControlPlane",
            CLUSTER,
            lambda one: condition(one, "Available").get("status") == "True",
        )
    secrets = [await older.get("v1", "Secret", one["metadata"]["name"]) for one in machines]
    roles = sorted(marks.annotation(one, "bootstrap.slipway.dev/role") for one in secrets)
    assert roles == ["CONTROL_PLANE", "CONTROL_PLANE", "INIT", "WORKER"]
    assert {marks.annotation(one, "bootstrap.slipway.dev/provisioner") for one in secrets} == {provisioner}
