"""Clusters by ClusterClass: the topology controller makes, patches and replaces our templates by server-side apply."""

import pytest

from tests.controller.site import CLUSTER, OURS, Object, Site, has_data
from tools.cluster.fake_infrastructure import definitions
from tools.cluster.topology import CONTROL_PLANE, CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]

CLASS = "class"
POOL = "topology.cluster.x-k8s.io/deployment-name=pool"


async def test_a_topology_is_made_and_changed(site: Site) -> None:
    """A variable of the Cluster reaches the machines by way of our template; changed, machines are replaced, once."""
    async with site.controller():
        await site.apply(site.workload.authority_secret(CLUSTER, namespace=site.namespace), *_class(site))
        await site.apply(_cluster(site, "Europe/Berlin"))
        first = await _machine(site, b"Europe/Berlin")
        await site.until(CORE, "Cluster", CLUSTER, _is_reconciled)
        before = await site.all(OURS, "SlipwayConfigTemplate")
        await site.apply(_cluster(site, "Asia/Tokyo"))
        assert await _machine(site, b"Asia/Tokyo") != first
        await site.until(CORE, "Cluster", CLUSTER, _is_reconciled)
        after = await site.all(OURS, "SlipwayConfigTemplate")
        # The class's own one and that of the pool: a dry run that saw a change each time would have made many more.
        assert len(before) == 2
        assert len({one["metadata"]["name"] for one in (*before, *after)}) == 3


async def _machine(site: Site, zone: bytes) -> str:
    """Wait for the pool's Machine whose data has a time zone; give its name."""

    async def with_zone() -> list[str]:
        machines = await site.all(CORE, "Machine", selector=POOL)
        named = [machine["metadata"]["name"] for machine in machines if has_data(machine)]
        return [name for name in named if zone in await site.secret(name)]

    found: list[str] = await site.eventually(with_zone, bool)
    return found[0]


def _is_reconciled(cluster: Object) -> bool:
    conditions = (cluster.get("status") or {}).get("conditions") or ()
    return any(
        (condition["type"], condition["status"], condition["observedGeneration"])
        == ("TopologyReconciled", "True", cluster["metadata"]["generation"])
        for condition in conditions
    )


def _class(site: Site) -> list[Object]:
    host, port = site.workload.endpoint
    infrastructure = {"controlPlaneEndpoint": {"host": host, "port": port}}
    socket = {"nodeRegistration": {"criSocket": "unix:///run/containerd/containerd.sock"}}
    kubeadm = {"kubeadmConfigSpec": {"initConfiguration": socket, "joinConfiguration": socket}}
    ours = {"provisioner": {"name": "cloud-init"}, "os": {"timeZone": {"name": "Etc/UTC"}}}
    templates = [
        _template(site, definitions.API_VERSION, "FakeClusterTemplate", infrastructure),
        _template(site, definitions.API_VERSION, "FakeMachineTemplate", {}),
        _template(site, CONTROL_PLANE, "KubeadmControlPlaneTemplate", kubeadm),
        _template(site, OURS, "SlipwayConfigTemplate", ours),
    ]
    cluster, machine, control_plane, bootstrap = ({"templateRef": _reference(template)} for template in templates)
    worker = {"class": "worker", "bootstrap": bootstrap, "infrastructure": machine}
    selector = {
        "apiVersion": OURS,
        "kind": "SlipwayConfigTemplate",
        "matchResources": {"machineDeploymentClass": {"names": ["worker"]}},
    }
    patch = {"op": "replace", "path": "/spec/template/spec/os/timeZone/name", "valueFrom": {"variable": "zone"}}
    spec = {
        "infrastructure": cluster,
        "controlPlane": {**control_plane, "machineInfrastructure": machine},
        "workers": {"machineDeployments": [worker]},
        "variables": [{"name": "zone", "required": True, "schema": {"openAPIV3Schema": {"type": "string"}}}],
        "patches": [{"name": "zone", "definitions": [{"selector": selector, "jsonPatches": [patch]}]}],
    }
    metadata = {"name": CLASS, "namespace": site.namespace}
    return [*templates, {"apiVersion": CORE, "kind": "ClusterClass", "metadata": metadata, "spec": spec}]


def _template(site: Site, api_version: str, kind: str, spec: Object) -> Object:
    metadata = {"name": CLASS, "namespace": site.namespace}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": {"template": {"spec": spec}}}


def _reference(template: Object) -> Object:
    return {
        "apiVersion": template["apiVersion"],
        "kind": template["kind"],
        "name": template["metadata"]["name"],
    }


def _cluster(site: Site, zone: str) -> Object:
    (plain, *_) = site.topology.cluster(endpoint=site.workload.endpoint, control_plane=False)
    pool = {"class": "worker", "name": "pool", "replicas": 1}
    topology = {
        "classRef": {"name": CLASS},
        "version": site.topology.version,
        "controlPlane": {"replicas": 1},
        "workers": {"machineDeployments": [pool]},
        "variables": [{"name": "zone", "value": zone}],
    }
    return {**plain, "spec": {"clusterNetwork": plain["spec"]["clusterNetwork"], "topology": topology}}
