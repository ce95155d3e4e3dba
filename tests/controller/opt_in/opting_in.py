"""Opted-in KubeadmConfigs on a real API server, with the real kubeadm provider beside the controller."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from slipway.controller import ownership
from slipway.controller.opt_in.webhook import Webhook
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS
from tests.controller import manifests
from tests.controller.site import CLUSTER, Object, Site
from tools.cluster.fake_infrastructure.relaying import relay
from tools.cluster.topology import BOOTSTRAP, CORE, Topology

KIND = KUBEADM_CONFIGS.kind
USER = f"system:serviceaccount:{manifests.NAMESPACE}:{manifests.ACCOUNT}"
PROVIDER = "system:serviceaccount:capi-kubeadm-bootstrap-system:capi-kubeadm-bootstrap-manager"
OPTED_IN = {ownership.MANAGED: "true"}


@contextlib.asynccontextmanager
async def webhook(site: Site) -> AsyncIterator[Webhook]:
    """Serve the webhook for the namespace of a test; afterwards it is down, and still asked for."""
    with tempfile.TemporaryDirectory() as folder:
        certificate = site.environment.serving_certificate()
        await asyncio.to_thread(certificate.write, Path(folder))
        served = Webhook(host=site.environment.address, port=0, certificates=Path(folder))
        await served.start()
        await guarded(site)
        authority = site.environment.administration.authority.certificate
        await site.apply(manifests.webhook(site.namespace, served.url, authority))
        await asked(site)
        try:
            yield served
        finally:
            await served.stop()


async def guarded(site: Site) -> None:
    """Wait until the policies hold: the API server learns of them by a watch."""
    if await site.find("admissionregistration.k8s.io/v1", manifests.WEBHOOK, _name(site)) is None:
        await site.eventually(lambda: _tried(site), lambda said: "was not asked" in said)


async def asked(site: Site) -> None:
    """Wait until the API server asks the webhook: it learns of that by a watch, too."""
    await site.eventually(lambda: _tried(site), lambda said: said == ownership.SLIPWAY)


async def _tried(site: Site) -> str:
    """Create a config that opts in, and delete it; give what was said against it, or who owned it."""
    tried = config("tried", namespace=site.namespace)
    said = await attempt(site, "create", tried)
    if not said:
        said = (await site.get(BOOTSTRAP, KIND, "tried"))["metadata"]["labels"].get(ownership.OWNER, "")
        await site.delete(BOOTSTRAP, KIND, "tried")
    return said


def _name(site: Site) -> str:
    name: str = manifests.webhook_name(site.namespace)["metadata"]["name"]
    return name


async def no_webhook(site: Site) -> None:
    """Take the configuration of the webhook away."""
    await asyncio.to_thread(site.environment.client.delete, manifests.webhook_name(site.namespace))


async def attempt(site: Site, verb: str, *arguments: Any, **more: Any) -> str:
    """Do something as administrator; give what the API server says against it, "" when it was done."""
    from tools.cluster.failures import Refused

    try:
        await asyncio.to_thread(getattr(site.environment.client, verb), *arguments, **more)
    except Refused as refused:
        return str(refused)
    return ""


def config(name: str, *, namespace: str, labels: Object | None = None, **metadata: object) -> Object:
    """Give a KubeadmConfig that opts in."""
    return {
        "apiVersion": BOOTSTRAP,
        "kind": KIND,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": OPTED_IN if labels is None else labels,
            **metadata,
        },
        "spec": {"joinConfiguration": {"nodeRegistration": {"criSocket": "unix:///run/containerd/containerd.sock"}}},
    }


def template(
    topology: Topology, name: str, *, labels: Object | None = None, annotations: Object | None = None
) -> Object:
    """Give a KubeadmConfigTemplate whose configs opt in."""
    made = topology.kubeadm_template(name)
    made["spec"]["template"]["metadata"] = {
        "labels": OPTED_IN if labels is None else labels,
        "annotations": annotations or {},
    }
    return made


def control_plane(
    topology: Topology, *, replicas: int = 1, annotations: Object | None = None, spec: Object | None = None
) -> list[Object]:
    """Give a KubeadmControlPlane whose configs opt in."""
    made = topology.kubeadm_control_plane(replicas=replicas, spec=spec)
    made[0]["spec"]["machineTemplate"]["metadata"] = {"labels": OPTED_IN, "annotations": annotations or {}}
    return made


async def workers(
    site: Site,
    name: str = "pool",
    *,
    replicas: int = 1,
    labels: Object | None = None,
    annotations: Object | None = None,
) -> None:
    """Make a MachineDeployment whose configs opt in."""
    made = template(site.topology, name, labels=labels, annotations=annotations)
    await site.apply(*site.topology.workers(made, name=name, replicas=replicas))


@contextlib.asynccontextmanager
async def closed_road(site: Site) -> AsyncIterator[asyncio.Server]:
    """A way to the workload's API server that is refused until ``start_serving``, as before a first machine has booted.

    That server is there from the start, with what ``kubeadm init`` leaves: seen too early, it would be a cluster that
    has been initialised, and its first machine one that joins.
    """
    host, port = site.workload.endpoint
    passing: set[asyncio.Task[None]] = set()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(host, port)
        try:
            await relay((reader, writer), there)
        finally:
            there[1].transport.abort()

    def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def end(done: asyncio.Task[None]) -> None:
            # A task that is cancelled before it begins, or while it connects, ends nothing by itself.
            writer.transport.abort()
            passing.discard(done)

        passing.add(task := asyncio.ensure_future(take(reader, writer)))
        task.add_done_callback(end)

    server = await asyncio.start_server(taken, host, 0, start_serving=False)
    try:
        yield server
    finally:
        server.close()
        for task in list(passing):
            task.cancel()
        await asyncio.gather(*passing, return_exceptions=True)
        await asyncio.sleep(0)


async def begin(site: Site) -> None:
    """Begin the cluster with a control plane of the kubeadm provider: that one lets no worker join any other."""
    await site.cluster(initialized=False, control_plane=True)
    await site.apply(*site.topology.kubeadm_control_plane())
    await site.until(CORE, "Cluster", CLUSTER, lambda one: condition_status(one, "ControlPlaneInitialized") == "True")


async def configs(site: Site, count: int, true: Any = lambda _: True, *, pool: str = "") -> list[Object]:
    """Wait until so many KubeadmConfigs, of a MachineDeployment or all, are there, and something is true of each."""
    found: list[Object] = await site.eventually(
        lambda: site.all(BOOTSTRAP, KIND, selector=f"pool={pool}" if pool else ""),
        lambda found: len(found) == count and all(true(one) for one in found),
    )
    return found


def is_done(item: Object) -> bool:
    """Whether Slipway has handed a config over, and the kubeadm provider has taken note of it."""
    return ownership.owned(item) and not ownership.held(item) and condition_status(item, "Paused") == "False"


def condition_status(item: Object, type_: str) -> str:
    """Give the status of a condition, or ""."""
    found = (item.get("status") or {}).get("conditions") or ()
    return next((str(one["status"]) for one in found if one["type"] == type_), "")


async def machine_by_hand(site: Site, name: str, **metadata: object) -> None:
    """Make a Machine with an opted-in KubeadmConfig and its infrastructure, as a person may."""
    reference = {"apiGroup": KUBEADM_CONFIGS.group, "kind": KIND, "name": name}
    infrastructure = {"apiGroup": "infrastructure.fake.slipway.dev", "kind": "FakeMachine", "name": name}
    place = {"name": name, "namespace": site.namespace}
    await site.apply(
        {
            "apiVersion": "infrastructure.fake.slipway.dev/v1alpha1",
            "kind": "FakeMachine",
            "metadata": place,
            "spec": {},
        },
        config(name, namespace=site.namespace, **metadata),
        {
            "apiVersion": CORE,
            "kind": "Machine",
            "metadata": place,
            "spec": {
                "clusterName": CLUSTER,
                "version": "v1.34.2",
                "bootstrap": {"configRef": reference},
                "infrastructureRef": infrastructure,
            },
        },
    )


def role() -> set[tuple[str, str]]:
    """Give resources and verbs of the role of the opt-in."""
    (found,) = [document for document in manifests.documents("opt-in") if document["kind"] == "ClusterRole"]
    return {(resource, verb) for rule in found["rules"] for resource in rule["resources"] for verb in rule["verbs"]}
