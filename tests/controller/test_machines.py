"""From `kubectl apply` of a Cluster with a MachineDeployment to machines that have our user data."""

import asyncio
import base64
import gzip
import json
from collections import Counter
from dataclasses import replace
from urllib.parse import unquote_to_bytes

import pytest
import yaml

from slipway.controller.timeouts import Timeouts
from slipway.embedded.bootstrapper import embedded_bootstrapper
from tests.controller.machines import machine_by_hand
from tests.controller.site import CLUSTER, OURS, Object, Site, condition, has_data, joining, runs
from tests.controller.together import together
from tools.cluster.topology import CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

USER = "system:serviceaccount:slipway-system:slipway-controller"
PROVISIONERS = {
    "cloud-init": "cloud-config",
    "ignition": "ignition",
    "talos": None,
    "windows": "cloud-config",
}


async def test_three_replicas_of_each_provisioner(site: Site) -> None:
    """Core clones the templates, we render, core takes the Secrets, and the machines run; scale up, down, delete."""
    async with site.controller():
        await site.cluster()
        for provisioner in PROVISIONERS:
            await site.workers(provisioner, {"provisioner": {"name": provisioner}}, replicas=3)
        for provisioner in PROVISIONERS:
            await _run_by(site, provisioner, await site.machines(provisioner, 3, runs))
        for replicas in (4, 1):
            change = {"spec": {"replicas": replicas}}
            for provisioner in PROVISIONERS:
                await site.patch(CORE, "MachineDeployment", provisioner, change)
            for provisioner in PROVISIONERS:
                await site.machines(provisioner, replicas, has_data)
        await site.configs(len(PROVISIONERS), lambda _: True)
        for provisioner in PROVISIONERS:
            await site.delete(CORE, "MachineDeployment", provisioner)
        await site.configs(0, lambda _: True)
        await site.eventually(
            lambda: site.all("v1", "Secret"), lambda secrets: not any(_is_data(secret) for secret in secrets)
        )
        await site.delete(CORE, "Cluster", CLUSTER)
        # A person has made these; everything else of the cluster's goes with it.
        await site.eventually(lambda: _secrets(site), lambda left: left == {f"{CLUSTER}-ca", f"{CLUSTER}-kubeconfig"})


async def _run_by(site: Site, provisioner: str, machines: list[Object]) -> None:
    """Check what machines of a provisioner have got, and what core has taken note of."""
    for machine in machines:
        secret = await site.get("v1", "Secret", machine["spec"]["bootstrap"]["dataSecretName"])
        assert secret["type"] == "cluster.x-k8s.io/secret"
        assert set(secret["data"]) == ({"value", "format"} if PROVISIONERS[provisioner] else {"value"})
        if PROVISIONERS[provisioner]:
            assert (await site.secret(secret["metadata"]["name"], "format")).decode() == PROVISIONERS[provisioner]
        name = machine["metadata"]["name"]
        config = await site.until(OURS, "SlipwayConfig", name, lambda item: condition(item).get("status") == "True")
        assert config["status"]["provisioner"]["name"] == provisioner
        await site.until(CORE, "Machine", name, _is_ready_for_core)


def _is_ready_for_core(machine: Object) -> bool:
    return bool(condition(machine, "BootstrapConfigReady").get("status") == "True")


async def _secrets(site: Site) -> set[str]:
    return {secret["metadata"]["name"] for secret in await site.all("v1", "Secret")}


async def test_the_real_kubeadm_joins_with_our_user_data(site: Site) -> None:
    """The token that we made in the workload cluster, the CA pin and the endpoint are good for a true discovery."""
    provisioners = ("cloud-init", "ignition")
    found = {}
    async with site.controller():
        await site.cluster()
        for provisioner in provisioners:
            await site.workers(provisioner, {"provisioner": {"name": provisioner}})
        for provisioner in provisioners:
            (machine,) = await site.machines(provisioner, 1, has_data)
            found[provisioner] = await site.secret(machine["spec"]["bootstrap"]["dataSecretName"])

    async def joins(provisioner: str) -> None:
        documents = _join_documents(found[provisioner], provisioner)
        join = await asyncio.to_thread(site.environment.dry_run_join, documents)
        assert join.succeeded, join.output[-3000:]
        assert b"node.cluster.x-k8s.io/uninitialized" in documents

    await together(provisioners, joins)


async def test_a_kubeadm_control_plane_beside_our_workers(site: Site) -> None:
    """The control plane is kubeadm's provider's, the workers are ours, and all machines run."""
    async with site.controller():
        await site.cluster(initialized=False, control_plane=True)
        await site.apply(*site.topology.kubeadm_control_plane())
        await site.workers("pool", {"provisioner": {"name": "cloud-init"}}, replicas=2)
        await site.machines("pool", 2, runs)
        await site.configs(2, lambda item: condition(item).get("status") == "True")


async def test_a_worker_costs_two_writes(site: Site) -> None:
    """Data Secret and status, as the API server has counted them; besides, the seed of the cluster's tokens once."""
    await site.cluster()
    start = site.environment.audit.position
    async with site.controller(timeouts=Timeouts(quiet_seconds=60)):
        await site.workers("pool", {"provisioner": {"name": "cloud-init"}}, replicas=3)
        await site.machines("pool", 3, has_data)
        await site.configs(3, lambda item: condition(item).get("status") == "True")
    calls = site.environment.audit.calls(since=start, user=USER)
    writes = [call for call in calls if call.namespace == site.namespace and call.is_write and call.status < 400]
    assert Counter((write.verb, write.resource, write.subresource) for write in writes) == {
        ("create", "secrets", ""): 3 + 1,
        ("patch", "slipwayconfigs", "status"): 3,
    }


async def test_a_refusal_is_seen_where_people_look(site: Site) -> None:
    """A person sees it by kubectl get: the reason, at the Machine, and as an event; corrected, it goes on."""
    spec = {"provisioner": {"name": "windows"}, "os": {"sysctls": [{"name": "vm.swappiness", "value": "1"}]}}
    async with site.controller():
        await site.cluster()
        await site.workers("pool", spec)
        (config,) = await site.configs(1, lambda item: condition(item).get("reason") == "UnsupportedFeature")
        found = condition(config)
        assert "spec.os.sysctls[0]" in found["message"]
        shown = await _kubectl(site, "get", "slipwayconfigs")
        assert "UnsupportedFeature" in shown
        (machine,) = await site.machines("pool", 1, lambda item: condition(item, "BootstrapConfigReady"))
        mirrored = await site.until(
            CORE,
            "Machine",
            machine["metadata"]["name"],
            lambda item: "sysctls" in condition(item, "BootstrapConfigReady").get("message", ""),
        )
        assert condition(mirrored, "BootstrapConfigReady")["status"] == "False"
        events = await site.all("v1", "Event")
        assert any(event["reason"] == "UnsupportedFeature" and event["type"] == "Warning" for event in events)
        change = {"spec": {"os": None}}
        await site.patch(OURS, "SlipwayConfig", config["metadata"]["name"], change)
        await site.machines("pool", 1, has_data)


async def test_a_provisioner_that_arrives_is_used_at_once(site: Site) -> None:
    """Absent at first: the condition says so; when it registers the machine goes on, without anybody's doing."""
    whole = embedded_bootstrapper(store=None)

    class Arriving:
        there = False

        def instances(self) -> object:
            return whole.provisioners.instances() if self.there else []

        def render(self, *args: object, **kwargs: object) -> object:
            return whole.provisioners.render(*args, **kwargs)  # type: ignore[arg-type]

    arriving = Arriving()
    bootstrapper = replace(whole, provisioners=arriving)  # type: ignore[arg-type]
    async with site.controller(bootstrapper=bootstrapper) as parts:
        await site.cluster()
        await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
        (config,) = await site.configs(1, lambda item: condition(item).get("reason") == "WaitingForProvisioner")
        assert condition(config, "ProvisionerAvailable")["status"] == "False"
        arriving.there = True
        parts.controller.provisioners_told(whole.provisioners.instances())
        async with asyncio.timeout(10):
            await site.machines("pool", 1, has_data)


async def test_pause_stops_everything_but_the_condition(site: Site) -> None:
    """A paused Cluster: no Secret, the condition says why; un-paused, by watch, the machine proceeds."""
    async with site.controller():
        await site.cluster()
        await site.patch(CORE, "Cluster", CLUSTER, {"spec": {"paused": True}})
        owner = await machine_by_hand(site, "alone", spec={"provisioner": {"name": "cloud-init"}})
        config = await site.until(
            OURS, "SlipwayConfig", "alone", lambda item: condition(item, "Paused").get("status") == "True"
        )
        assert "spec.paused" in condition(config, "Paused")["message"]
        assert await site.find("v1", "Secret", "alone") is None
        await site.patch(CORE, "Cluster", CLUSTER, {"spec": {"paused": False}})
        await site.until(CORE, "Machine", owner["metadata"]["name"], has_data)


async def test_what_the_spec_refers_to_is_waited_for(site: Site) -> None:
    """A Secret and a ConfigMap arrive one after the other: the condition names what is missing, then it goes on."""
    spec = {
        "provisioner": {"name": "ignition"},
        "os": {
            "files": [
                {"path": "/etc/one", "content": {"secretRef": {"name": "mine", "key": "k"}}},
                {"path": "/etc/two", "content": {"configMapRef": {"name": "map", "key": "k"}}},
            ]
        },
    }
    async with site.controller():
        await site.cluster()
        await site.workers("pool", spec)
        (config,) = await site.configs(1, lambda item: condition(item).get("reason") == "WaitingForSecret")
        assert "key k of Secret mine, key k of ConfigMap map" in condition(config)["message"] or (
            "ConfigMap map" in condition(config)["message"] and "Secret mine" in condition(config)["message"]
        )
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine", "namespace": site.namespace}}
        await site.apply({**secret, "stringData": {"k": "canary-one"}})
        await site.configs(1, lambda one: "Secret mine" not in condition(one).get("message", ""))
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "map", "namespace": site.namespace}}
        await site.apply({**config_map, "data": {"k": "canary-two"}})
        (machine,) = await site.machines("pool", 1, has_data)
        document = json.loads(await site.secret(machine["spec"]["bootstrap"]["dataSecretName"]))
        files = {file["path"]: file for file in document["storage"]["files"]}
        assert unquote_to_bytes(files["/etc/one"]["contents"]["source"].partition(",")[2]) == b"canary-one"


async def test_a_restored_config_gets_its_status_back(site: Site) -> None:
    """Statuses are not restored: ours comes back from the Secret, whose content does not change."""
    async with site.controller():
        await site.cluster()
        await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
        (machine,) = await site.machines("pool", 1, has_data)
        name = machine["metadata"]["name"]
        before = await site.get("v1", "Secret", name)
        config = await site.until(OURS, "SlipwayConfig", name, lambda item: condition(item).get("status") == "True")
    await site.patch(OURS, "SlipwayConfig", name, {"status": None}, subresource="status")
    assert not (await site.get(OURS, "SlipwayConfig", name)).get("status")
    async with site.controller():
        again = await site.until(OURS, "SlipwayConfig", name, lambda item: condition(item).get("status") == "True")
    for key in ("dataSecretName", "initialization", "provisioner", "bundleId", "userDataBytes"):
        assert again["status"][key] == config["status"][key]
    after = await site.get("v1", "Secret", name)
    assert (after["data"], after["metadata"]["uid"]) == (before["data"], before["metadata"]["uid"])


async def test_the_owners_end_is_ours(site: Site) -> None:
    """A Machine deleted before it has user data: the config goes at once, nothing of ours holds it."""
    async with site.controller():
        await site.cluster()
        spec = {"provisioner": {"name": "nobody"}}
        await site.workers("pool", spec)
        await site.configs(1, lambda item: condition(item).get("status") == "False")
        async with asyncio.timeout(60):
            await site.delete(CORE, "MachineDeployment", "pool")
            await site.configs(0, lambda _: True)


async def test_a_pool_is_rendered_again_when_its_spec_changes(site: Site) -> None:
    """A MachinePool's config changes: the same Secret has new content, without a new name."""
    config = {
        "apiVersion": OURS,
        "kind": "SlipwayConfig",
        "metadata": {"name": "pool", "namespace": site.namespace},
        "spec": joining({"provisioner": {"name": "cloud-init"}}),
    }
    async with site.controller():
        await site.cluster()
        await site.apply(*site.topology.machine_pool(config, name="pool"))
        await site.until(OURS, "SlipwayConfig", "pool", lambda item: condition(item).get("status") == "True")
        before = await site.get("v1", "Secret", "pool")
        await site.patch(OURS, "SlipwayConfig", "pool", {"spec": {"os": {"timeZone": {"name": "Europe/Berlin"}}}})
        after = await site.until(
            "v1",
            "Secret",
            "pool",
            lambda item: item["metadata"]["annotations"]["bootstrap.slipway.dev/generation"] == "2",
        )
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert b"Europe/Berlin" in await site.secret("pool")


async def _kubectl(site: Site, *arguments: str) -> str:
    process = await asyncio.create_subprocess_exec(
        "kubectl", "-n", site.namespace, *arguments, env=site.environment.environment, stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode == 0
    return output.decode()


def _join_documents(data: bytes, provisioner: str) -> bytes:
    """Take kubeadm's documents out of user data, as the machine would find them."""
    if provisioner == "ignition":
        files = {file["path"]: file["contents"] for file in json.loads(data)["storage"]["files"]}
        found = {path: _fetched(contents) for path, contents in files.items()}
    else:
        files = {write_file["path"]: write_file for write_file in yaml.safe_load(data)["write_files"]}
        found = {path: _written(file) for path, file in files.items()}
    (document,) = [content for content in found.values() if b"kind: JoinConfiguration" in content]
    return document


def _fetched(contents: Object) -> bytes:
    head, _, body = contents["source"].partition(",")
    raw = base64.b64decode(unquote_to_bytes(body)) if head.endswith(";base64") else unquote_to_bytes(body)
    return gzip.decompress(raw) if contents.get("compression") == "gzip" else raw


def _written(file: Object) -> bytes:
    content = file["content"]
    return base64.b64decode(content) if file.get("encoding") in {"b64", "base64"} else content.encode()


def _is_data(secret: Object) -> bool:
    return any(one["kind"] == "SlipwayConfig" for one in secret["metadata"].get("ownerReferences", ()))
