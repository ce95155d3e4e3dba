"""The ways out: deleted while still paused, handed back, moved to another cluster, Slipway gone."""

import asyncio
import sys
import time

import pytest

from slipway.controller import ownership
from tests.controller.opt_in import opting_in
from tests.controller.opt_in.opting_in import KIND, PROVIDER, is_done
from tests.controller.site import CLUSTER, Object, Site, has_data, runs
from tools.cluster.topology import BOOTSTRAP, CORE

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

TIMES = 100
AT_ONCE = 20
GONE_SECONDS = 15.0


async def test_deleted_while_still_paused(site: Site) -> None:
    """Core hears nothing of an object that is paused: its Machine goes all the same, a hundred times, in 15 s."""
    await site.cluster(initialized=False)
    async with opting_in.webhook(site):
        for batch in range(TIMES // AT_ONCE):
            names = [f"m{batch}-{index}" for index in range(AT_ONCE)]
            await asyncio.gather(*(opting_in.machine_by_hand(site, name) for name in names))
            await opting_in.configs(site, AT_ONCE, _is_held_by_a_machine)
            deleted = time.monotonic()
            await asyncio.gather(*(site.delete(CORE, "Machine", name) for name in names))
            await site.eventually(lambda: site.all(CORE, "Machine"), lambda left: left == [])
            assert time.monotonic() - deleted < GONE_SECONDS
            await opting_in.configs(site, 0)


async def test_handed_back(site: Site) -> None:
    """Slipway does not run: `slipway release`, and the kubeadm provider makes the data; what has data keeps it."""
    await opting_in.begin(site)
    async with opting_in.webhook(site):
        async with site.controller(opt_in=True):
            await opting_in.workers(site, "ours")
            (rendered,) = await site.machines("ours", 1, runs)
            await opting_in.configs(site, 1, is_done, pool="ours")
        before = await site.get("v1", "Secret", rendered["metadata"]["name"])
        await opting_in.workers(site, "theirs")
        (waiting,) = await site.machines("theirs", 1, lambda one: not has_data(one))
        name = waiting["metadata"]["name"]
        start = site.environment.audit.position
        await opting_in.configs(site, 1, _is_held_by_a_machine, pool="theirs")
        code, said = await release(site, "--all")
        assert (code, name in said, rendered["metadata"]["name"] in said) == (0, True, False), said
        await site.machines("theirs", 1, runs)
        calls = site.environment.audit.calls(since=start, user=PROVIDER, resource="secrets")
        assert [call.name for call in calls if call.verb == "create" and call.namespace == site.namespace] == [name]
        code, said = await release(site, rendered["metadata"]["name"])
        assert (code, "rendered" in said) == (1, True), said
        assert await site.get("v1", "Secret", rendered["metadata"]["name"]) == before
        async with site.controller(opt_in=True):
            # What was handed back stays so, also when Slipway runs again; what is made from now on is ours.
            await site.patch(CORE, "MachineDeployment", "theirs", {"spec": {"replicas": 2}})
            machines = await site.machines("theirs", 2, runs)
            makers = {
                machine["metadata"]["name"]: ownership.annotation(
                    await site.get("v1", "Secret", machine["metadata"]["name"]), "bootstrap.slipway.dev/provisioner"
                )
                for machine in machines
            }
    assert makers.pop(name) == ""
    assert set(makers.values()) == {"cloud-init"}


async def test_moved_to_a_cluster_with_slipway(site: Site) -> None:
    """Clusterctl restores spec, labels, annotations and Secrets, but no status: it comes back, the content stays."""
    await site.cluster()
    async with opting_in.webhook(site), site.controller(opt_in=True):
        await opting_in.machine_by_hand(site, "w")
        await site.until(CORE, "Machine", "w", runs)
        await site.until(BOOTSTRAP, KIND, "w", is_done)
        machine, config, secret = await _pulled_out(site, "w")
        restored = await put_back(site, machine, config, secret)
        await site.until(BOOTSTRAP, KIND, "w", is_done)
        found = await site.get(BOOTSTRAP, KIND, "w")
        assert found["metadata"]["uid"] == restored["metadata"]["uid"] != config["metadata"]["uid"]
        assert found["status"]["dataSecretName"] == "w"
        await site.until(CORE, "Machine", "w", runs)
    assert (await site.get("v1", "Secret", "w"))["data"] == secret["data"]


def _is_held_by_a_machine(config: Object) -> object:
    return ownership.held(config) and config["metadata"].get("ownerReferences")


async def release(site: Site, *arguments: str) -> tuple[int, str]:
    """Run `slipway release`; give the exit code and what it says."""
    command = (sys.executable, "-m", "slipway.cli", "release", "-n", site.namespace, *arguments)
    process = await asyncio.create_subprocess_exec(
        *command, f"--kubeconfig={site.environment.kubeconfig}", stdout=asyncio.subprocess.PIPE
    )
    output, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, output.decode()


async def _pulled_out(site: Site, name: str) -> tuple[Object, Object, Object]:
    """Take Machine, config and Secret out of the cluster as clusterctl does, the Cluster being paused; give them."""
    await site.patch(CORE, "Cluster", CLUSTER, {"spec": {"paused": True}})
    kinds = ((CORE, "Machine"), (BOOTSTRAP, KIND), ("v1", "Secret"))
    found = [await site.get(api_version, kind, name) for api_version, kind in kinds]
    for api_version, kind in kinds:
        await site.patch(api_version, kind, name, {"metadata": {"finalizers": None}})
        document = {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": site.namespace}}
        await asyncio.to_thread(site.environment.client.delete, document, propagation="Orphan")
        await site.eventually(lambda: site.find(api_version, kind, name), lambda left: left is None)  # noqa: B023
    return found[0], found[1], found[2]


async def put_back(site: Site, *items: Object) -> Object:
    """Create Machine, config and Secret again, each owned by the one before, without status; give the config."""
    owner: Object = {}
    made: dict[str, Object] = {}
    for item in items:
        metadata = {key: item["metadata"].get(key) for key in ("name", "namespace", "labels", "annotations")}
        if owner:
            reference = {key: owner[key] for key in ("apiVersion", "kind")}
            metadata["ownerReferences"] = [
                {**reference, "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"], "controller": True}
            ]
        body = {key: value for key, value in item.items() if key not in {"status", "metadata"}}
        owner = await asyncio.to_thread(site.environment.client.create, {**body, "metadata": metadata})
        made[owner["kind"]] = owner
    await site.patch(CORE, "Cluster", CLUSTER, {"spec": {"paused": False}})
    return made[KIND]
