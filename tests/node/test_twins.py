"""An imported KubeadmConfig of our examples makes the node that the same wishes in our own words make."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.node import documents, node_state
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tools.node import addresses, site

pytestmark = [pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SECONDS = 300.0
EXAMPLE = Path(__file__).parents[2] / "examples/cluster-docker.yaml"
VARIABLES = {
    "KUBERNETES_VERSION": documents.VERSION,
    "ENDPOINT_ADDRESS": addresses.machine(1),
    "POD_CIDR": "10.244.0.0/16",
    "SERVICE_CIDR": "10.96.0.0/12",
}
# What a host of containers has set already.
FORWARDING = "    preKubeadmCommands: [sysctl -w net.ipv4.ip_forward=1]\n"
CONTROL_PLANE, WORKER = "    clusterConfiguration:\n", "      joinConfiguration:\n"
ARGUMENTS = [{"name": "eviction-hard", "value": "nodefs.available<0%,nodefs.inodesFree<0%,imagefs.available<0%"}]
# The provider puts it on every worker, and Cluster API takes it off when it has set the labels.
UNTIL_CLUSTER_API = {"key": "node.cluster.x-k8s.io/uninitialized", "effect": "NoSchedule"}
SOCKET = "unix:///run/containerd/containerd.sock"


def imported() -> str:
    """The example, with the one thing done that its machines bring along."""
    text = EXAMPLE.read_text(encoding="utf-8")
    assert text.count(CONTROL_PLANE) == text.count(WORKER) == 1
    return text.replace(CONTROL_PLANE, FORWARDING + CONTROL_PLANE).replace(WORKER, f"  {FORWARDING}{WORKER}")


def native() -> str:
    """The same in our own words: the provider's kind of keys, its feature gate and its taint are wishes here."""
    kubernetes: dict[str, Any] = {
        "controlPlane": {"apiServerSans": ["localhost", "127.0.0.1", "0.0.0.0", "host.docker.internal"]},
        "etcd": {"local": {"imageTag": "3.6.5-0"}},
        "certificates": {"keyAlgorithm": "Rsa2048"},
        "featureGates": [{"name": "ControlPlaneKubeletLocalMode", "enabled": True}],
        "node": {
            "kubeletArguments": [*ARGUMENTS, {"name": "fail-swap-on", "value": "false"}],
            "criSocket": SOCKET,
        },
        "timeouts": {"controlPlaneComponent": "5m"},
    }
    worker = {"node": {"kubeletArguments": ARGUMENTS, "taints": {"items": [UNTIL_CLUSTER_API]}, "criSocket": SOCKET}}
    machines = {"control-plane-init": ("Init", "cp"), "md": ("Worker", "md")}
    return documents.text(
        documents.cluster(machines, name="dinghy"),
        documents.config("cp", kubernetes=kubernetes),
        documents.config("md", kubernetes=worker),
    )


def booted(rendering: Rendering) -> dict[str, Any]:
    """Boot a control plane and a worker, and look at them when both are Ready."""
    with site.opened() as place:
        machines = {}
        for name in ("control-plane-init", "md"):
            (full,) = (one for one in rendering.names if one.endswith(name))
            machines[name] = place.machine(name)
            machines[name].boot(rendering.user_data(full))
        for machine in machines.values():
            machine.wait_sentinel(timeout=SECONDS)
        first = machines["control-plane-init"]
        wait_ready(first, *machines)
        looked = {name: node_state.of_machine(machine) for name, machine in machines.items()}
        return {**looked, "cluster": node_state.of_cluster(first)}


def test_an_imported_example_makes_the_same_nodes_as_its_native_twin(engine) -> None:
    """Arguments, environment, files, manifests, users, units, labels, taints, configurations: all of them are equal."""
    engine("node-1.34")
    with ThreadPoolExecutor() as side_by_side:
        theirs, ours = side_by_side.map(booted, [Rendering(imported(), VARIABLES), Rendering(native())])
    programs = ("kubelet", *node_state.COMPONENTS)
    assert [one for one in programs if not theirs["control-plane-init"][one]] == []
    assert [one for one in programs if theirs["md"][one]] == ["kubelet"]
    assert any(word.startswith("--etcd-servers=") for word in theirs["control-plane-init"]["kube-apiserver"])
    assert any(path.endswith("/etc/kubernetes/kubelet.conf") for path in theirs["md"]["files"])
    assert theirs["control-plane-init"] == ours["control-plane-init"]
    assert theirs["md"] == ours["md"]
    assert theirs["cluster"] == ours["cluster"]
