"""Cluster API 1.12 with its own in-memory infrastructure: a whole cluster without any API server of ours for it."""

import pytest

from tests.tools.cluster.machines import SECONDS, running, status, worker_of
from tools.cluster.environment import Environment
from tools.cluster.topology import CONTROL_PLANE, IN_MEMORY, Topology

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


def test_a_cluster_of_kubeadm_machines_runs(older: Environment) -> None:
    """Control plane and worker run, and the control plane is available: its etcd and static pods are there, too."""
    topology = Topology("in-memory", IN_MEMORY)
    older.apply([*topology.cluster(), *topology.kubeadm_control_plane(), *topology.workers()])
    worker = running(older, worker_of(older, "in-memory-workers", "default"), "default")
    assert worker["spec"]["bootstrap"]["dataSecretName"] == worker["metadata"]["name"]
    older.client.until(
        CONTROL_PLANE,
        "KubeadmControlPlane",
        "in-memory",
        lambda one: any(
            (condition["type"], condition["status"]) == ("Available", "True")
            for condition in status(one).get("conditions", [])
        ),
        seconds=SECONDS,
    )
