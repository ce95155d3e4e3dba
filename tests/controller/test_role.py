"""The controller's role: enough for all that it does, and nothing beyond it."""

import asyncio
from typing import Any

import pytest

from slipway.contract.errors import PermissionDenied, Unauthenticated
from slipway.controller.reading import Readers
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from tests.controller import manifests
from tests.controller.machines import machine_by_hand
from tests.controller.site import OURS, Site, condition, has_data, joining
from tools.cluster.topology import CORE, Topology

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]

USER = f"system:serviceaccount:{manifests.NAMESPACE}:{manifests.ACCOUNT}"
SPEC = {"provisioner": {"name": "cloud-init"}}
REFERRING = {
    **SPEC,
    "os": {"files": [{"path": "/etc/motd", "content": {"configMapRef": {"name": "banners", "key": "motd"}}}]},
}


async def test_every_verb_of_the_role_is_needed(site: Site) -> None:
    """Everything that the controller can do is done with this role alone; what the API server saw is the role."""
    start = site.environment.audit.position
    async with site.controller():
        await site.cluster(initialized=False, control_plane=True)
        await site.apply(*site.topology.kubeadm_control_plane())
        await _waits_and_is_refused(site)
        await _begins_a_cluster(site, "two")
        await _follows_a_pool(site)
        (machine,) = await site.machines("pool", 1, has_data)
        await _is_asked_for_user_data(site, machine["metadata"]["name"])
    name = machine["metadata"]["name"]
    await site.patch("v1", "Secret", name, {"metadata": {"ownerReferences": None}})
    async with site.controller():
        await site.until("v1", "Secret", name, lambda one: one["metadata"].get("ownerReferences"))
    calls = [
        call
        for call in site.environment.audit.calls(since=start, user=USER)
        if call.namespace in {site.namespace, ""} and (call.status < 400 or call.status == _ABSENT)
    ]
    used = {(call.resource + (f"/{call.subresource}" if call.subresource else ""), call.verb) for call in calls}
    used = {("*" if resource.endswith("controlplanes") else resource, verb) for resource, verb in used}
    assert used - _DISCOVERY == _role() | {("*", "get")}


async def _waits_and_is_refused(site: Site) -> None:
    await site.workers("pool", REFERRING)
    await site.workers(
        "refused", {"provisioner": {"name": "windows"}, "os": {"sysctls": [{"name": "a.b", "value": "1"}]}}
    )
    await site.configs(2, lambda one: condition(one).get("reason") in {"WaitingForSecret", "UnsupportedFeature"})
    banners = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "banners", "namespace": site.namespace}}
    await site.apply({**banners, "data": {"motd": "ahoy"}})
    await site.machines("pool", 1, has_data)


async def _begins_a_cluster(site: Site, name: str) -> None:
    topology = Topology(name, namespace=site.namespace)
    await site.apply(*topology.cluster(endpoint=site.workload.endpoint, control_plane=False))
    # A Machine that is gone holds the lock: the controller asks for it, and takes the lock over.
    lock = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"{name}-lock", "namespace": site.namespace}}
    await site.apply({**lock, "data": {"lock-information": '{"machineName": "gone"}'}})
    await machine_by_hand(site, "first", spec=SPEC, cluster=name, control_plane=True)
    await site.until(CORE, "Machine", "first", has_data)
    held = await site.get("v1", "ConfigMap", f"{name}-lock")
    assert held["data"]["lock-information"] == '{"machineName": "first"}'
    for suffix in ("ca", "etcd", "proxy", "sa"):
        secret = await site.get("v1", "Secret", f"{name}-{suffix}")
        (owner,) = secret["metadata"]["ownerReferences"]
        assert (owner["kind"], owner.get("controller")) == ("Cluster", None)
    initialized = {"status": {"initialization": {"controlPlaneInitialized": True}}}
    await site.patch(CORE, "Cluster", name, initialized, subresource="status")
    await site.eventually(lambda: site.find("v1", "ConfigMap", f"{name}-lock"), lambda found: found is None)


async def _follows_a_pool(site: Site) -> None:
    metadata = {"name": "many", "namespace": site.namespace}
    config = {"apiVersion": OURS, "kind": "SlipwayConfig", "metadata": metadata, "spec": joining(SPEC)}
    await site.apply(*site.topology.machine_pool(config, name="many"))
    await site.until(OURS, "SlipwayConfig", "many", lambda one: condition(one).get("status") == "True")
    await site.patch(OURS, "SlipwayConfig", "many", {"spec": {"os": {"timeZone": {"name": "Europe/Berlin"}}}})
    key = "bootstrap.slipway.dev/generation"
    await site.until("v1", "Secret", "many", lambda one: one["metadata"]["annotations"][key] == "2")


async def _is_asked_for_user_data(site: Site, secret: str) -> None:
    """A token of the cluster opens exactly the Secrets that RBAC opens to it."""
    connection = await Connection.of_process(site.kubeconfig)
    try:
        readers = Readers(Api(connection), ())
        await readers.check(None, _bearer(site, manifests.ACCOUNT), namespace=site.namespace, secret=secret)
        with pytest.raises(PermissionDenied):
            await readers.check(
                None, await asyncio.to_thread(_bearer, site, "nobody"), namespace=site.namespace, secret=secret
            )
        with pytest.raises(Unauthenticated):
            await readers.check(None, "Bearer invented", namespace=site.namespace, secret=secret)
        own = site.environment.token_of_account(manifests.NAMESPACE, manifests.ACCOUNT)
        with pytest.raises(Unauthenticated, match="audience"):
            await readers.check(None, f"Bearer {own}", namespace=site.namespace, secret=secret)
    finally:
        await connection.close()


def _bearer(site: Site, account: str) -> str:
    site.environment.kubeconfig_of_account(manifests.NAMESPACE, account)
    return f"Bearer {site.environment.token_of_account(manifests.NAMESPACE, account, audience='slipway')}"


def _role() -> set[tuple[str, str]]:
    roles: list[dict[str, Any]] = [
        document
        for document in manifests.documents("rbac")
        if document["kind"] == "ClusterRole" and document["metadata"]["name"] == "slipway-controller"
    ]
    return {
        (resource, verb)
        for role in roles
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


_ABSENT = 404
"""The role lets the call through, and nothing is there."""

_DISCOVERY: set[tuple[str, str]] = {("", "get")}
