"""From `kubectl apply` of templates with the label to machines with our user data, the kubeadm provider beside us."""

import asyncio
import re
from collections import Counter

import pytest

from slipway.controller import ownership
from slipway.controller.timeouts import Timeouts
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS
from tests.controller.namespaces import MakeSite
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import KIND, PROVIDER, USER, condition_status, is_done
from tests.controller.site import CLUSTER, Object, Site, condition, has_data, runs
from tests.controller.together import together
from tools.cluster.topology import BOOTSTRAP, CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(500)]

_TOKEN = re.compile(rb"[a-z0-9]{6}\.[a-z0-9]{16}")


async def test_workers_get_our_user_data(site: Site) -> None:
    """Provisioners that take a plan serve KubeadmConfigs: the machines run, Secret and status are in order.

    What the API server saw of KubeadmConfigs is the role of the opt-in; `get` is of use after a lost race only.
    """
    provisioners = ("cloud-init", "ignition")
    start = site.environment.audit.position
    async with opting_in.webhook(site), site.controller(opt_in=True):
        await site.cluster()
        for provisioner in provisioners:
            await opting_in.workers(site, provisioner, replicas=2, annotations={ownership.PROVISIONER: provisioner})
        machines = {provisioner: await site.machines(provisioner, 2, runs) for provisioner in provisioners}
        found = await opting_in.configs(site, 4, is_done)
    for provisioner, machine in ((key, one) for key, value in machines.items() for one in value):
        secret = await site.get("v1", "Secret", machine["spec"]["bootstrap"]["dataSecretName"])
        assert secret["metadata"]["annotations"]["bootstrap.slipway.dev/provisioner"] == provisioner
        (owner,) = secret["metadata"]["ownerReferences"]
        assert (owner["apiVersion"], owner["kind"], owner["controller"]) == (BOOTSTRAP, KIND, True)
    for config in found:
        assert {type_: condition_status(config, type_) for type_ in _CONDITIONS} == dict.fromkeys(_CONDITIONS, "True")
        assert "bootstrapToken" not in str(config["spec"])
        assert not _TOKEN.search(str(config).encode())
    calls = [
        call
        for call in await asyncio.to_thread(site.environment.audit.calls, since=start, user=USER)
        if call.resource == KUBEADM_CONFIGS.plural and call.namespace == site.namespace
    ]
    assert not [call for call in calls if call.status == 403]
    used = {(f"{call.resource}/{call.subresource}".rstrip("/"), call.verb) for call in calls}
    assert used | {(KUBEADM_CONFIGS.plural, "get")} == opting_in.role()


async def test_a_worker_costs_three_writes(site: Site) -> None:
    """Secret, status and the end of the pause, as the API server has counted them; the seed of tokens once."""
    async with opting_in.webhook(site):
        await site.cluster()
        start = site.environment.audit.position
        async with site.controller(opt_in=True, timeouts=Timeouts(quiet_seconds=60)):
            await opting_in.workers(site, replicas=3)
            await site.machines("pool", 3, has_data)
            await opting_in.configs(site, 3, is_done)
    calls = [call for call in site.environment.audit.calls(since=start) if call.namespace == site.namespace]
    writes = [call for call in calls if call.is_write and call.user == USER and call.status < 400]
    assert Counter((one.verb, one.resource, one.subresource) for one in writes) == {
        ("create", "secrets", ""): 3 + 1,
        ("patch", "kubeadmconfigs", "status"): 3,
        ("patch", "kubeadmconfigs", ""): 3,
    }
    theirs = [
        call for call in calls if call.is_write and call.user == PROVIDER and call.resource in {"secrets", "configmaps"}
    ]
    assert theirs == [], "the kubeadm provider has made nothing for them"


async def test_a_control_plane_of_one_begins_with_our_data(site: Site) -> None:
    """KubeadmControlPlane makes a machine of ours its first; workers of ours follow; all of them run."""
    async with opting_in.webhook(site), opting_in.closed_road(site) as road, site.controller(opt_in=True):
        endpoint = road.sockets[0].getsockname()
        await site.cluster(initialized=False, control_plane=True, endpoint=endpoint)
        await site.apply(*opting_in.control_plane(site.topology))
        await opting_in.workers(site)
        (config,) = [
            one
            for one in await opting_in.configs(site, 2)
            if "cluster.x-k8s.io/control-plane" in one["metadata"]["labels"]
        ]
        name = config["metadata"]["name"]
        await site.until(CORE, "Machine", name, has_data)
        await road.start_serving()
        await site.until(CORE, "Machine", name, runs)
        await site.machines("pool", 1, runs)
        await opting_in.configs(site, 2, is_done)
        # Freed by whichever provider sees first that the cluster is initialised.
        await site.eventually(lambda: site.find("v1", "ConfigMap", f"{CLUSTER}-lock"), lambda found: found is None)
    data = await site.secret(name)
    assert b"kubeadm init --config" in data
    assert (await site.secret(name, "format")).decode() == "cloud-config"
    secret = await site.get("v1", "Secret", name)
    assert secret["metadata"]["annotations"]["bootstrap.slipway.dev/role"] == "INIT"


async def test_a_control_plane_needs_kubeadm(sites: MakeSite) -> None:
    """A provisioner without kubeadm is refused under KubeadmControlPlane, where people look; corrected, it goes on."""
    await together(("talos", "windows"), lambda provisioner: _needs_kubeadm(sites(), provisioner))


async def _needs_kubeadm(site: Site, provisioner: str) -> None:
    async with opting_in.webhook(site), site.controller(opt_in=True):
        await site.cluster(initialized=False, control_plane=True)
        await site.apply(*opting_in.control_plane(site.topology, annotations={ownership.PROVISIONER: provisioner}))
        (config,) = await opting_in.configs(
            site, 1, lambda one: condition(one, "DataSecretAvailable").get("reason") == "ControlPlaneNeedsKubeadm"
        )
        assert provisioner in condition(config)["message"]
        name = config["metadata"]["name"]
        events = await site.eventually(lambda: site.all("v1", "Event"), _has_event("ControlPlaneNeedsKubeadm", name))
        assert events
        change = {"metadata": {"annotations": {ownership.PROVISIONER: "cloud-init"}}}
        await site.patch(BOOTSTRAP, KIND, name, change)
        await site.until(CORE, "Machine", name, has_data)


async def test_who_does_not_opt_in_sees_nothing_of_it(site: Site) -> None:
    """Without webhook and controller, and with both: the same bytes but for the random token, by the same user."""
    await opting_in.begin(site)
    await opting_in.workers(site, "before", labels={"x": "y"})
    (before,) = await site.machines("before", 1, has_data)
    start = site.environment.audit.position
    async with opting_in.webhook(site), site.controller(opt_in=True):
        await opting_in.workers(site, "after", labels={"x": "y"})
        (after,) = await site.machines("after", 1, runs)
    one, other = [await _without_token(site, machine) for machine in (before, after)]
    assert one == other
    name = after["metadata"]["name"]
    calls = [each for each in site.environment.audit.calls(since=start, user=USER) if each.name == name]
    assert calls == [], "Slipway has not even read it"
    made = [
        each
        for each in site.environment.audit.calls(since=start, resource="secrets")
        if each.namespace == site.namespace and each.verb == "create" and each.name in {name, ""}
    ]
    assert {each.user for each in made} == {PROVIDER}
    assert ownership.OWNER not in (await site.get(BOOTSTRAP, KIND, name))["metadata"].get("labels", {})


async def test_a_pool_keeps_its_secret_and_gets_new_content(site: Site) -> None:
    """A MachinePool's config, opted in: rendered again by us when its spec changes, never by the kubeadm provider."""
    async with opting_in.webhook(site), site.controller(opt_in=True):
        await site.cluster()
        config = opting_in.config("pool", namespace=site.namespace)
        await site.apply(*site.topology.machine_pool(config, name="pool"))
        await site.until(BOOTSTRAP, KIND, "pool", is_done)
        before = await site.get("v1", "Secret", "pool")
        change = {"spec": {"preKubeadmCommands": ["echo changed"]}}
        await site.patch(BOOTSTRAP, KIND, "pool", change)
        key = "bootstrap.slipway.dev/generation"
        after = await site.until("v1", "Secret", "pool", lambda one: one["metadata"]["annotations"][key] == "2")
        assert after["metadata"]["uid"] == before["metadata"]["uid"]
        assert b"echo changed" in await site.secret("pool")


async def _without_token(site: Site, machine: Object) -> bytes:
    return _TOKEN.sub(b"TOKEN", await site.secret(machine["spec"]["bootstrap"]["dataSecretName"]))


def _has_event(reason: str, name: str) -> object:
    return lambda events: any(
        event["reason"] == reason and event["type"] == "Warning" and event["involvedObject"]["name"] == name
        for event in events
    )


_CONDITIONS = ("Ready", "DataSecretAvailable", "CertificatesAvailable")
