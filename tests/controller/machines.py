"""Machines that a person makes one by one, without a MachineDeployment."""

from tests.controller.site import CLUSTER, OURS, Object, Site, joining
from tools.cluster.topology import CORE


async def machine_by_hand(
    site: Site, name: str, *, spec: Object, cluster: str = CLUSTER, control_plane: bool = False
) -> Object:
    """Make a Machine with its config and its infrastructure, as a person may."""
    metadata = {"name": name, "namespace": site.namespace}
    labels = {"cluster.x-k8s.io/control-plane": ""} if control_plane else {}
    infrastructure = {"apiGroup": "infrastructure.fake.slipway.dev", "kind": "FakeMachine", "name": name}
    machine = {
        "apiVersion": CORE,
        "kind": "Machine",
        "metadata": {**metadata, "labels": labels},
        "spec": {
            "clusterName": cluster,
            "version": "v1.34.2",
            "bootstrap": {"configRef": {"apiGroup": "bootstrap.slipway.dev", "kind": "SlipwayConfig", "name": name}},
            "infrastructureRef": infrastructure,
        },
    }
    await site.apply(
        {
            "apiVersion": "infrastructure.fake.slipway.dev/v1alpha1",
            "kind": "FakeMachine",
            "metadata": metadata,
            "spec": {},
        },
        machine,
    )
    made = await site.get(CORE, "Machine", name)
    reference = {
        "apiVersion": CORE,
        "kind": "Machine",
        "name": name,
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    await site.apply(
        {
            "apiVersion": OURS,
            "kind": "SlipwayConfig",
            "metadata": {**metadata, "ownerReferences": [reference]},
            "spec": joining(spec),
        }
    )
    return made
