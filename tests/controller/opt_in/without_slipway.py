"""A management cluster that has never heard of Slipway, to which opted-in objects were moved."""

import base64

from slipway.controller import ownership
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import KIND
from tests.controller.opt_in.test_leaving import put_back, release
from tests.controller.site import CLUSTER, Object, Site, has_data, runs
from tools.cluster.topology import BOOTSTRAP, CORE


async def goes_on_without_slipway(site: Site) -> None:
    """See that what was rendered goes on with the kubeadm provider, as it was; the rest waits, until handed back."""
    await opting_in.begin(site)
    await site.patch(CORE, "Cluster", CLUSTER, {"spec": {"paused": True}})
    marked = {"labels": {**opting_in.OPTED_IN, ownership.OWNER: ownership.SLIPWAY}}
    rendered = opting_in.config("rendered", namespace=site.namespace, **marked)
    await put_back(site, *_machine(site, rendered, data="rendered"), _secret(site, "rendered"))
    held = {"annotations": {ownership.PAUSED: ownership.SLIPWAY}}
    waiting = opting_in.config("waiting", namespace=site.namespace, **marked, **held)
    await put_back(site, *_machine(site, waiting))
    await site.until(BOOTSTRAP, KIND, "rendered", lambda one: one.get("status", {}).get("dataSecretName") == "rendered")
    await site.until(CORE, "Machine", "rendered", runs)
    assert await site.secret("rendered") == b"#cloud-config"
    assert not has_data(await site.get(CORE, "Machine", "waiting"))
    code, said = await release(site, "--all")
    assert (code, "waiting" in said) == (0, True), said
    await site.until(CORE, "Machine", "waiting", runs)
    secret = await site.get("v1", "Secret", "waiting")
    assert b"kubeadm join" in base64.b64decode(secret["data"]["value"])


def _machine(site: Site, config: Object, *, data: str = "") -> tuple[Object, Object]:
    """Give a Machine that refers to a config, and the config; its infrastructure is made at once."""
    name = config["metadata"]["name"]
    place = {"name": name, "namespace": site.namespace}
    infrastructure = {"apiGroup": "infrastructure.fake.slipway.dev", "kind": "FakeMachine", "name": name}
    fake = {"apiVersion": "infrastructure.fake.slipway.dev/v1alpha1", "kind": "FakeMachine"}
    site.environment.client.create({**fake, "metadata": place, "spec": {}})
    bootstrap: Object = {"configRef": {"apiGroup": BOOTSTRAP.partition("/")[0], "kind": KIND, "name": name}}
    if data:
        bootstrap["dataSecretName"] = data
    spec = {
        "clusterName": CLUSTER,
        "version": "v1.34.2",
        "bootstrap": bootstrap,
        "infrastructureRef": infrastructure,
    }
    labels = {"cluster.x-k8s.io/cluster-name": CLUSTER}
    return {"apiVersion": CORE, "kind": "Machine", "metadata": {**place, "labels": labels}, "spec": spec}, config


def _secret(site: Site, name: str) -> Object:
    """Give a data Secret as Slipway leaves it."""
    annotations = {"bootstrap.slipway.dev/bundle-id": "b"}
    labels = {"cluster.x-k8s.io/cluster-name": CLUSTER}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": "cluster.x-k8s.io/secret",
        "metadata": {"name": name, "namespace": site.namespace, "labels": labels, "annotations": annotations},
        "data": {
            "value": base64.b64encode(b"#cloud-config").decode(),
            "format": base64.b64encode(b"cloud-config").decode(),
        },
    }
