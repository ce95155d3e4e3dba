"""An installation in a cluster: everything of an overlay applied, its Job run, and its pods up."""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.deploy.kubernetes import rendered
from tests.deploy.kubernetes.kubelet.kubelet import PATIENCE, Kubelet, Pod
from tests.deploy.kubernetes.kubelet.volumes import NotMounted
from tools.cluster.administration import Administration
from tools.cluster.client import Client
from tools.cluster.management import ManagementCluster, RunningCluster

OVERLAY = "overlays/separate/own-certificates"
NAMESPACE = "slipway-system"
WORKLOAD = "workload"
PROVISIONERS = ("cloud-init", "ignition", "talos", "windows")
SERVICES = ("controller", "registry", *PROVISIONERS)
ON_IPV6 = {"slipway-ignition", "slipway-windows"}
GRPC, METRICS, PROBES = 9443, 8080, 8081
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")


@dataclass
class Installation:
    """A cluster with everything applied, and its pods."""

    cluster: RunningCluster
    kubelet: Kubelet
    before: str
    job: Pod
    pods: dict[str, Pod]
    workload: Administration

    def secret(self, name: str) -> dict[str, bytes]:
        """Read a Secret of the namespace."""
        found = self.cluster.client.get("v1", "Secret", name, namespace=NAMESPACE)
        return {key: base64.b64decode(value) for key, value in (found.get("data") or {}).items()}

    def run_again(self) -> Pod:
        """Let the CronJob's pod run."""
        cron = self.cluster.client.get("batch/v1", "CronJob", "slipway-certificates", namespace=NAMESPACE)
        job = {"metadata": cron["metadata"], "spec": cron["spec"]["jobTemplate"]["spec"]}
        pod = self.kubelet.run(job)
        assert pod.process.wait_ended(PATIENCE) == 0, pod.log()
        return pod

    def revive(self) -> None:
        """Start again what has ended, as a kubelet does, and wait until all is well."""
        revived = [pod for pod in self.pods.values() if self.kubelet.revive(pod)]
        if revived:
            with ThreadPoolExecutor(1) as fresh:
                fresh.submit(asyncio.run, _ready(self)).result()

    def endpoints(self) -> set[str]:
        """Give where provisioners are that are ready."""
        return {one["endpoint"] for one in self.told()}

    def told(self) -> list[dict[str, str]]:
        """Read what the registry has written of provisioners that are ready."""
        prefix = "bootstrap.slipway.dev/"
        found = self.cluster.client.list(
            "coordination.k8s.io/v1", "Lease", namespace=NAMESPACE, selector=f"{prefix}registry=instance"
        )
        told = [
            {key.removeprefix(prefix): value for key, value in one["metadata"]["annotations"].items()} for one in found
        ]
        return [one for one in told if one["state"] == "INSTANCE_STATE_READY"]


@contextmanager
def installed() -> Iterator[Installation]:
    """Apply everything, run the Job, then the pods of every Deployment; all ends with the block."""
    with ManagementCluster("1.14") as cluster:
        workload = cluster.workload_cluster(WORKLOAD)
        cluster.apply(rendered.documents(OVERLAY))
        kubelet = Kubelet(cluster, namespace=NAMESPACE)
        kubelet.serve("slipway-registry", "slipway-controller")
        found = deployments(cluster.client)
        with pytest.raises(NotMounted) as refused:
            kubelet.run(found["slipway-registry"])
        job = kubelet.run(cluster.client.get("batch/v1", "Job", "slipway-certificates", namespace=NAMESPACE))
        assert job.process.wait_ended(PATIENCE) == 0, job.log()
        pods = {}
        for name in (f"slipway-{service}" for service in SERVICES):
            tunnels = [workload.endpoint] if name == "slipway-controller" else []
            if tunnels:
                # Its workload cluster listens on loopback here, which the operator has to allow.
                container = found[name]["spec"]["template"]["spec"]["containers"][0]
                container.setdefault("env", []).append({"name": "SLIPWAY_WORKLOAD_SERVERS", "value": "127.0.0.0/8"})
            pods[name] = kubelet.run(found[name], family=6 if name in ON_IPV6 else 4, tunnels=tunnels)
        kubelet.lead("slipway-registry")
        made = Installation(cluster, kubelet, str(refused.value), job, pods, workload.administration)
        asyncio.run(_ready(made))
        yield made


def deployments(client: Client) -> dict[str, Any]:
    """Read the Deployments, by name."""
    return {one["metadata"]["name"]: one for one in client.list("apps/v1", "Deployment", namespace=NAMESPACE)}


async def _ready(installation: Installation) -> None:
    for pod in installation.pods.values():
        for kind in _PROBES:
            await until(lambda p=pod, k=kind: probed(installation, p, k), f"{pod.name}: {kind}", pod)
    await until(lambda: _registered(installation), "all provisioners are registered")


async def probed(installation: Installation, pod: Pod, kind: str) -> bool:
    """Whether a pod answers a probe, and runs at all."""
    assert pod.process.running, pod.log()
    return await installation.kubelet.is_healthy(pod, kind)


async def _registered(installation: Installation) -> bool:
    return {one["name"] for one in await asyncio.to_thread(installation.told)} == set(PROVISIONERS)


async def until(reached: Callable[[], Awaitable[bool]], what: str, pod: Pod | None = None) -> None:
    """Wait for something that processes do in their own time."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not await reached():  # noqa: ASYNC110  # another process has no event
                await asyncio.sleep(0.1)
    except TimeoutError:
        pytest.fail(f"not so after {PATIENCE:.0f} s: {what}\n{pod.log()[-3000:] if pod else ''}")
