"""A cluster that the real clusterctl moves to another management cluster, where Slipway goes on with it."""

import asyncio
import os
from collections.abc import Callable, Iterator

import pytest

from tests.controller import manifests
from tests.controller.opt_in.without_slipway import goes_on_without_slipway
from tests.controller.site import CLUSTER, OURS, Object, Site, condition, runs
from tools.cluster.environment import Environment
from tools.cluster.management import ManagementCluster, RunningCluster
from tools.cluster.topology import CORE
from tools.oracles import go_programs

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]

USER = f"system:serviceaccount:{manifests.NAMESPACE}:{manifests.ACCOUNT}"
GROUPS = ("cluster.x-k8s.io", "slipway.dev")
SEED = f"{CLUSTER}-slipway-token-seed"


@pytest.fixture
def elsewhere(engine: Callable[..., None]) -> Iterator[RunningCluster]:
    """Another management cluster with Cluster API, and at first nothing of ours."""
    engine("cluster", "clusterctl-1.14")
    with ManagementCluster("1.14") as cluster:
        yield cluster


async def test_moved_to_a_cluster_without_slipway_and_with_it(site: Site, elsewhere: RunningCluster) -> None:
    """Where Slipway is not, machines that have data go on, and others wait; where it is, it goes on with them all."""
    workload = await asyncio.to_thread(elsewhere.workload_cluster, "workload")
    without = Site(elsewhere, workload.administration, "default", elsewhere.kubeconfig)
    (machine, config), _ = await asyncio.gather(_begun(site), goes_on_without_slipway(without))
    await asyncio.to_thread(elsewhere.apply, manifests.cluster_part())
    await _keeps_its_data(site, elsewhere, machine, config)


async def _begun(site: Site) -> tuple[Object, Object]:
    """Make a machine that is going to move; give it and its config."""
    async with site.controller():
        # clusterctl moves a cluster only whose control plane has a provider that tells of it.
        await site.cluster(initialized=False, control_plane=True)
        await site.apply(*site.topology.kubeadm_control_plane())
        await site.workers("pool", {"provisioner": {"name": "cloud-init"}})
        (machine,) = await site.machines("pool", 1, runs)
        (config,) = await site.configs(1, lambda one: condition(one).get("status") == "True")
    return machine, config


async def _keeps_its_data(site: Site, elsewhere: RunningCluster, machine: Object, config: Object) -> None:
    """Status is not moved: it is rebuilt from the Secret, which nobody renders or writes again; tokens go on."""
    name = config["metadata"]["name"]
    before, seed = await site.secret(name), await site.secret(SEED)
    for environment in (site.environment, elsewhere):
        await asyncio.to_thread(_as_installed_by_clusterctl, environment)
    await _move(site, elsewhere)
    assert await site.find(OURS, "SlipwayConfig", name) is None

    kubeconfig = await asyncio.to_thread(elsewhere.kubeconfig_of_account, manifests.NAMESPACE, manifests.ACCOUNT)
    there = Site(elsewhere, site.workload, site.namespace, kubeconfig)
    async with there.controller():
        moved = await there.until(OURS, "SlipwayConfig", name, lambda one: condition(one).get("status") == "True")
        assert moved["status"]["dataSecretName"] == config["status"]["dataSecretName"]
        assert moved["status"]["provisioner"] == config["status"]["provisioner"]
        (same,) = await there.machines("pool", 1, runs)
        assert same["metadata"]["name"] == machine["metadata"]["name"]
        assert await there.secret(name) == before
        assert await there.secret(SEED) == seed
        await there.patch(CORE, "MachineDeployment", "pool", {"spec": {"replicas": 2}})
        await there.machines("pool", 2, runs)
    writes = [call for call in elsewhere.audit.calls(user=USER) if call.is_write and call.resource == "secrets"]
    assert [one.verb for one in writes if one.status < 400] == ["create"], "of the second machine alone"


def _as_installed_by_clusterctl(environment: Environment) -> None:
    """Label the kinds as clusterctl does: it moves objects of these alone."""
    kind = ("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    label: Object = {"metadata": {"labels": {"clusterctl.cluster.x-k8s.io": ""}}}
    for one in environment.client.list(*kind):
        if one["spec"]["group"].endswith(GROUPS):
            environment.client.patch(one, label)


async def _move(site: Site, target: RunningCluster) -> None:
    program = go_programs.PROGRAMS["clusterctl-1.14"].require()
    process = await asyncio.create_subprocess_exec(
        program, "move", "-n", site.namespace, "--to-kubeconfig", str(target.kubeconfig), "-v", "2",
        env={
            "PATH": os.environ["PATH"], "HOME": str(target.directory), "CLUSTERCTL_DISABLE_VERSIONCHECK": "true",
            "KUBECONFIG": str(site.environment.kubeconfig),
        },
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    output, _ = await process.communicate()
    assert process.returncode == 0, output.decode()[-3000:]
