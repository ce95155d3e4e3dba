"""Cluster API 1.12: a control plane of three, which only its in-memory infrastructure can play."""

import pytest

from slipway.controller import ownership
from slipway.controller.assembly import WorkloadApi
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.destinations import Destinations
from slipway.kubernetes_api.failures import AlreadyExists, Conflict
from slipway.kubernetes_api.kubeconfig import ClusterAccess
from slipway.kubernetes_api.resources import Json, Resource
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import is_done
from tests.controller.site import CLUSTER, Site, condition, runs
from tools.cluster.topology import CONTROL_PLANE, CORE

pytestmark = [
    pytest.mark.engine,
    pytest.mark.timeout(700),
    # KubeadmControlPlane gives its authorities the serial number 0, which the library will not read for ever.
    pytest.mark.filterwarnings("ignore:Parsed a serial number which wasn't positive"),
]


class ToInMemory(WorkloadApi):
    """The in-memory API server wants every creation to be called protobuf, and takes JSON under that name."""

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        try:
            return await self.connection.call(
                "POST",
                resource.path(namespace),
                kind=resource.kind,
                body=body,
                content_type="application/vnd.kubernetes.protobuf",
            )
        except Conflict:
            # Its answer does not say which conflict it is.
            raise AlreadyExists("POST", resource.kind) from None


def _dial(access: ClusterAccess) -> ToInMemory:
    return ToInMemory(Connection.to(access, Destinations(["127.0.0.0/8"])))


@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
async def test_a_control_plane_of_three(older: Site, provisioner: str) -> None:
    """KubeadmControlPlane begins with a machine of ours, lets two join, and is available; a worker follows."""
    chosen = {ownership.PROVISIONER: provisioner}
    async with opting_in.webhook(older), older.controller(opt_in=True, dial=_dial):
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
    secrets = [await older.get("v1", "Secret", machine["metadata"]["name"]) for machine in machines]
    roles = sorted(ownership.annotation(secret, "bootstrap.slipway.dev/role") for secret in secrets)
    assert roles == ["CONTROL_PLANE", "CONTROL_PLANE", "INIT", "WORKER"]
    assert {ownership.annotation(secret, "bootstrap.slipway.dev/provisioner") for secret in secrets} == {provisioner}
