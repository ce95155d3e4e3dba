"""A KubeadmControlPlane whose kubelets have certificates of the cluster grows and is replaced, Slipway away at times.

The control plane's provider asks etcd by a port-forward from the API server by the kubelet to the pod. An API server
that verifies kubelets makes none to a machine whose certificate Slipway's controller has not approved yet.

``SLIPWAY_OUTAGE_SECONDS`` is how long the controller is away while a machine waits for its certificate.
"""

import os
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

OUTAGE_SECONDS = float(os.environ.get("SLIPWAY_OUTAGE_SECONDS", "600"))

pytestmark = [
    pytest.mark.boots,
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.timeout(OUTAGE_SECONDS + 20 * SECONDS),
    pytest.mark.xdist_group("node"),
]

CONTROL_PLANE = "controlplane.cluster.x-k8s.io/v1beta2"
KIND = "KubeadmControlPlane"
NAME = "tide"
ETCD = "EtcdMemberHealthy"
KEPT = {"Cluster", "FakeCluster", "FakeMachineTemplate", KIND}
APPROVES = {"SLIPWAY_APPROVE_KUBELET_CERTIFICATES": "true"}
PROFILE = """\
profiles: [cis-kubernetes-1.10/level-1]
waivers: [{control: cis-kubernetes-1.10/1.2.11, reason: the images of these machines are preloaded}]
"""
AUTHORITY = {"name": "kubelet-certificate-authority", "value": "/etc/kubernetes/pki/ca.crt"}
_LOOK_SECONDS = 10.0
KUBELET = [
    # Certificates of the cluster; and the disk of this computer may be nearly full.
    {"name": "rotate-server-certificates", "value": "true"},
    {"name": "eviction-hard", "value": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%"},
]


@pytest.fixture
def hardened(engine: Callable[..., None]) -> Iterator[tuple[Environment, Process]]:
    """Cluster API with Slipway in it, which approves certificates, on machines that boot; and Slipway's process."""
    engine("cluster", "node-1.34")
    with ManagementCluster("1.14", real_machines=True) as made:
        yield made, slipway.start(made.supervisor, made, env={**made.way_in, **APPROVES})


def test_a_control_plane_grows_and_is_replaced(hardened: tuple[Environment, Process]) -> None:
    """From 1 to 3 with our controller away twice, then all anew: etcd is asked, logs are read, controls are met."""
    cluster, ours = hardened
    cluster.apply(control_plane())
    (leader,) = machines_when(cluster, 1, healthy)
    first = cluster.machines[leader]

    # A certificate that is approved needs nothing of ours. A machine of ours is not created without us: its config
    # would be one of the kubeadm provider.
    ours.kill()
    cluster.client.patch(cluster.client.get(CONTROL_PLANE, KIND, NAME), {"spec": {"replicas": 3}})
    cluster.client.until(CONTROL_PLANE, KIND, NAME, creation_failed, seconds=SECONDS)
    assert healthy(cluster.client.get(CORE, "Machine", leader))

    # A machine that joins meanwhile is a node whose kubelet shows nothing yet; the provider asks etcd by the first one.
    ours.start()
    names = machines_when(cluster, 2, has_data)
    (second,) = names - {leader}
    ours.kill()
    machines_when(cluster, 2, running)
    assert_away(cluster, first, leader, second)

    ours.start()
    grown = machines_when(cluster, 3, healthy)
    assert names < grown
    assert_in_order(cluster, grown)

    anew = {"spec": {"kubeadmConfigSpec": {"postKubeadmCommands": ["true"]}}}
    cluster.client.patch(cluster.client.get(CONTROL_PLANE, KIND, NAME), anew)
    replaced = machines_when(cluster, 3, lambda machine: healthy(machine) and name_of(machine) not in grown)
    assert_in_order(cluster, replaced)


def control_plane() -> list[Object]:
    """The control plane of the example, with a profile, and certificates of the cluster for its kubelets."""
    everything = yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8"))
    documents = [document for document in everything if document["kind"] in KEPT]
    for document in documents:
        document["metadata"]["namespace"] = "default"
    (spec,) = [document["spec"] for document in documents if document["kind"] == KIND]
    spec["machineTemplate"]["metadata"]["annotations"] = {"bootstrap.slipway.dev/compliance": PROFILE}
    kubeadm = spec["kubeadmConfigSpec"]
    kubeadm["clusterConfiguration"] = {"apiServer": {"extraArgs": [AUTHORITY]}}
    for part in ("initConfiguration", "joinConfiguration"):
        kubeadm[part]["nodeRegistration"]["kubeletExtraArgs"] += KUBELET
    return documents


def machines_when(cluster: Environment, count: int, true: Callable[[Object], bool] = bool) -> set[str]:
    """The names of the Machines once there are so many, and something is true of each; any change is progress."""
    deadline, before = time.monotonic() + 3 * SECONDS, set[tuple[str, str, str]]()
    while True:
        machines = cluster.client.list(CORE, "Machine", namespace="default")
        if len(machines) == count and all(true(machine) for machine in machines):
            return {name_of(machine) for machine in machines}
        now = {(name_of(machine), phase(machine), condition(machine, ETCD)) for machine in machines}
        if now != before:
            deadline, before = time.monotonic() + 3 * SECONDS, now
        assert time.monotonic() < deadline, yaml.safe_dump([machine.get("status") for machine in machines])
        time.sleep(1.0)


def name_of(machine: Object) -> str:
    """The name of a Machine."""
    return str(machine["metadata"]["name"])


def phase(machine: Object) -> str:
    """How far a Machine is."""
    return str(machine.get("status", {}).get("phase", ""))


def running(machine: Object) -> bool:
    """Whether a Machine has a node, and is not being deleted."""
    return phase(machine) == "Running"


def healthy(machine: Object) -> bool:
    """Whether a Machine runs, and the control plane's provider has asked its member of etcd and found it well."""
    return running(machine) and condition(machine, ETCD) == "True"


def has_data(machine: Object) -> bool:
    """Whether a Machine has user data."""
    return bool(machine["spec"]["bootstrap"].get("dataSecretName"))


def creation_failed(control_plane: Object) -> bool:
    """Whether the control plane's provider could not create a config, as our webhook does not answer."""
    conditions = control_plane.get("status", {}).get("deprecated", {}).get("v1beta1", {}).get("conditions", [])
    created = [entry for entry in conditions if entry["type"] == "MachinesCreated"]
    return any("opt-in.bootstrap.slipway.dev" in entry.get("message", "") for entry in created)


def assert_away(cluster: Environment, first: Machine, leader: str, second: str) -> None:
    """Check while our controller is away: the second machine's certificate is not approved, and there is no third."""
    end = time.monotonic() + OUTAGE_SECONDS
    while True:
        assert approved(first) == {leader}
        assert not logs(first, second)
        machines = cluster.client.list(CORE, "Machine", namespace="default")
        assert {name_of(machine) for machine in machines} == {leader, second}
        if time.monotonic() > end:
            break
        time.sleep(_LOOK_SECONDS)
    assert logs(first, leader), "the certificate that was approved before is of use"


def assert_in_order(cluster: Environment, names: set[str]) -> None:
    """Check that each machine shows its logs through the API server, and meets its controls."""
    for name in sorted(names):
        machine = cluster.machines[name]
        machine.wait_until(partial(logs, machine, name), f"no logs of {name}", timeout=SECONDS, asks=True)
        assert machine.run(["sh", "/var/lib/slipway/evidence"]).status == 0
        bad = {control for control, result in results(machine).items() if result in {"fail", "missing"}}
        assert not bad, name
        assert name in approved(machine)


def logs(machine: Machine, name: str) -> bool:
    """Whether a control plane gives the logs of a pod on a node."""
    return bool(kubectl(machine, "--namespace=kube-system", "logs", f"kube-scheduler-{name}", "--tail=1"))


def approved(machine: Machine) -> set[str]:
    """The nodes for which Slipway has approved a certificate."""
    path = '{range .items[?(@.status.conditions[0].reason=="SlipwayMachineAddresses")]}{.spec.username}{"\\n"}{end}'
    users = kubectl(machine, "get", "certificatesigningrequests", f"--output=jsonpath={path}")
    return {user.removeprefix("system:node:") for user in users.split()}
