"""A KubeadmControlPlane whose kubelets have certificates of the cluster grows and is replaced, with pauses of ours.

It asks etcd by a port-forward from the API server by the kubelet to the pod. An API server that verifies kubelets does
not make one to a machine whose certificate Slipway's controller has not approved yet.
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
import yaml

from tests.controller.test_all_the_way import EXAMPLE, SECONDS, Object, condition, kubectl
from tests.node.test_compliance import results
from tools.cluster import slipway
from tools.cluster.environment import Environment
from tools.cluster.management import ManagementCluster
from tools.cluster.processes import Process
from tools.cluster.topology import CORE
from tools.node.machine import Machine

pytestmark = [
    pytest.mark.boots,
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.timeout(5400),
    pytest.mark.xdist_group("node"),
]

CONTROL_PLANE = "controlplane.cluster.x-k8s.io/v1beta2"
KIND = "KubeadmControlPlane"
NAME = "tide"
KEPT = {"Cluster", "FakeCluster", "FakeMachineTemplate", KIND}
APPROVES = {"SLIPWAY_APPROVE_KUBELET_CERTIFICATES": "true"}
PROFILE = """\
profiles: [cis-kubernetes-1.10/level-1]
waivers: [{control: cis-kubernetes-1.10/1.2.11, reason: the images of these machines are preloaded}]
"""
AUTHORITY = {"name": "kubelet-certificate-authority", "value": "/etc/kubernetes/pki/ca.crt"}
CERTIFICATES_OF_THE_CLUSTER = {"name": "rotate-server-certificates", "value": "true"}


@pytest.fixture
def hardened(engine: Callable[..., None]) -> Iterator[tuple[Environment, Process]]:
    """Cluster API with Slipway in it, which approves certificates, on machines that boot; and Slipway's process."""
    engine("cluster", "node-1.34")
    with ManagementCluster("1.14", real_machines=True) as made:
        yield made, slipway.start(made.supervisor, made, env={**made.way_in, **APPROVES})


def test_a_control_plane_grows_and_is_replaced(hardened: tuple[Environment, Process]) -> None:
    """From 1 to 3 with our controller down twice, then all anew: etcd is asked, logs are read, controls are met."""
    cluster, ours = hardened
    cluster.apply(control_plane())
    (leader,) = machines_when(cluster, 1, running)
    etcd_is_asked(cluster)
    first = cluster.machines[leader]

    # Nothing of ours is needed for a certificate that is approved: the next machine is ordered by a healthy etcd.
    ours.stop()
    scale = {"spec": {"replicas": 3}}
    cluster.client.patch(cluster.client.get(CONTROL_PLANE, KIND, NAME), scale)
    names = machines_when(cluster, 2)
    (second,) = names - {leader}
    assert not cluster.client.get(CORE, "Machine", second)["spec"]["bootstrap"].get("dataSecretName")

    # A machine that joins meanwhile is a node and a member of etcd, and no third one is ordered before it can be asked.
    ours.start()
    cluster.client.until(CORE, "Machine", second, lambda one: one["spec"]["bootstrap"].get("dataSecretName"))
    ours.stop()
    machines_when(cluster, 2, running)
    assert approved(first) == {leader}
    assert not logs(first, second)
    assert machines_when(cluster, 2) == names

    ours.start()
    grown = machines_when(cluster, 3, running)
    assert names < grown
    etcd_is_asked(cluster)
    assert_in_order(cluster, grown)

    anew = {"spec": {"kubeadmConfigSpec": {"postKubeadmCommands": ["true"]}}}
    cluster.client.patch(cluster.client.get(CONTROL_PLANE, KIND, NAME), anew)
    replaced = machines_when(cluster, 3, lambda one: running(one) and one["metadata"]["name"] not in grown)
    etcd_is_asked(cluster)
    assert_in_order(cluster, replaced)


def control_plane() -> list[Object]:
    """The control plane of the example, with a profile, and certificates of the cluster for its kubelets."""
    documents = [one for one in yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8")) if one["kind"] in KEPT]
    for document in documents:
        document["metadata"]["namespace"] = "default"
    (spec,) = [one["spec"] for one in documents if one["kind"] == KIND]
    spec["machineTemplate"]["metadata"]["annotations"] = {"bootstrap.slipway.dev/compliance": PROFILE}
    kubeadm = spec["kubeadmConfigSpec"]
    kubeadm["clusterConfiguration"] = {"apiServer": {"extraArgs": [AUTHORITY]}}
    for part in ("initConfiguration", "joinConfiguration"):
        kubeadm[part]["nodeRegistration"]["kubeletExtraArgs"].append(CERTIFICATES_OF_THE_CLUSTER)
    return documents


def machines_when(cluster: Environment, count: int, true: Callable[[Object], bool] = bool) -> set[str]:
    """The names of the Machines once there are so many, and something is true of each."""
    deadline = time.monotonic() + 3 * SECONDS
    while True:
        found = cluster.client.list(CORE, "Machine", namespace="default")
        if len(found) == count and all(true(one) for one in found):
            return {one["metadata"]["name"] for one in found}
        assert time.monotonic() < deadline, yaml.safe_dump([one.get("status") for one in found])
        time.sleep(1.0)


def running(machine: Object) -> bool:
    """Whether a Machine has a node, and is not being deleted."""
    return bool(machine.get("status", {}).get("phase") == "Running")


def etcd_is_asked(cluster: Environment) -> None:
    """Wait until the control plane's provider has asked each member of etcd, and all are well."""
    cluster.client.until(
        CONTROL_PLANE, KIND, NAME, lambda one: condition(one, "EtcdClusterHealthy") == "True", seconds=SECONDS
    )


def assert_in_order(cluster: Environment, names: set[str]) -> None:
    """Check that each machine shows its logs through the API server, and meets its controls."""
    for name in sorted(names):
        machine = cluster.machines[name]
        machine.wait_until(partial(logs, machine, name), f"no logs of {name}", timeout=SECONDS, asks=True)
        assert machine.run(["sh", "/var/lib/slipway/evidence"]).status == 0
        bad = {control for control, result in results(machine).items() if result in {"fail", "missing"}}
        assert not bad, name
    assert approved(machine) >= names


def logs(machine: Machine, name: str) -> bool:
    """Whether a control plane gives the logs of a pod on a node."""
    return bool(kubectl(machine, "--namespace=kube-system", "logs", f"kube-scheduler-{name}", "--tail=1"))


def approved(machine: Machine) -> set[str]:
    """The nodes for which Slipway has approved a certificate."""
    path = '{range .items[?(@.status.conditions[0].reason=="SlipwayMachineAddresses")]}{.spec.username}{"\\n"}{end}'
    found = kubectl(machine, "get", "certificatesigningrequests", f"--output=jsonpath={path}")
    return {user.removeprefix("system:node:") for user in found.split()}
