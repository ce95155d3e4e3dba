"""From `kubectl apply` of the example to nodes: machines that boot from our Secrets, and what core makes of them.

Everything is real but the cloud: API servers, core, the control plane's provider, Slipway with its webhook, kubeadm,
etcd and kubelets.
"""

import base64
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.cluster import slipway
from tools.cluster.environment import Environment
from tools.cluster.management import ManagementCluster
from tools.cluster.topology import BOOTSTRAP, CORE
from tools.node.machine import Machine

pytestmark = [
    pytest.mark.boots,
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("node"),
]

Object = dict[str, Any]

OURS = "bootstrap.slipway.dev/v1alpha1"
EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "cluster-api" / "booted.yaml"
UNINITIALIZED = "node.cluster.x-k8s.io/uninitialized"
KUBELET_FLAGS = "/var/lib/kubelet/kubeadm-flags.env"
TOKEN_SECONDS = 90.0
SECONDS = 600.0


@pytest.fixture
def cluster(engine: Callable[..., None]) -> Iterator[Environment]:
    """Cluster API with Slipway in it, on machines that boot; tokens that last for a minute and a half."""
    engine("cluster", "node-1.34")
    with ManagementCluster("1.14", real_machines=True) as made:
        slipway.start(made.supervisor, made, token_seconds=TOKEN_SECONDS, env=made.way_in)
        yield made


def test_machines_boot_from_our_secrets_and_run(cluster: Environment) -> None:
    """Both Machines run by the node that has the provider ID of their infrastructure; taint and token go."""
    cluster.apply([{**one, "metadata": {**one["metadata"], "namespace": "default"}} for one in example()])
    leader = name_with_data(cluster, BOOTSTRAP, "KubeadmConfig")
    first = running(cluster, leader, provisioner="cloud-init")
    follower = name_with_data(cluster, OURS, "SlipwayConfig")
    token = token_of(first, follower)
    second = running(cluster, follower, provisioner="ignition")

    nodes = {name: ready_node(first, name) for name in (leader, follower)}
    assert {name: node["spec"]["providerID"] for name, node in nodes.items()} == {n: f"fake://{n}" for n in nodes}
    assert nodes[follower]["metadata"]["labels"]["example.com/tide"] == "low", "the spec has come through"

    registered = {one.name: one.run(["cat", KUBELET_FLAGS]).output for one in (first, second)}
    assert UNINITIALIZED in registered[follower], "the worker has registered with the taint"
    assert UNINITIALIZED not in registered[leader], "the control plane has not"
    first.wait_until(lambda: UNINITIALIZED not in taints(first, follower), "core leaves the taint", timeout=60)

    # As long as it is refreshed it never expires, and the cluster's own cleaner never takes it away.
    first.wait_until(
        lambda: token not in kubectl(first, "get", "secrets", "--namespace=kube-system", "--output=name"),
        "the token is refreshed for ever",
        timeout=2 * TOKEN_SECONDS,
    )
    for api_version, kind in ((BOOTSTRAP, "KubeadmConfig"), (OURS, "SlipwayConfig")):
        (config,) = cluster.client.list(api_version, kind, namespace="default")
        assert condition(config, "Ready") == "True"


def example() -> list[Object]:
    """The documents that a person applies."""
    return list(yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8")))


def name_with_data(cluster: Environment, api_version: str, kind: str) -> str:
    """The name that the only config of a kind has in common with its Machine, as soon as its data is there."""
    deadline = time.monotonic() + SECONDS
    while True:
        found = cluster.client.list(api_version, kind, namespace="default")
        if found and condition(found[0], "DataSecretAvailable") == "True":
            (config,) = found
            return str(config["metadata"]["name"])
        assert time.monotonic() < deadline, yaml.safe_dump(found)
        time.sleep(0.5)


def running(cluster: Environment, name: str, *, provisioner: str) -> Machine:
    """The machine behind a Machine once that one runs, by its own node and by our Secret."""
    seen = cluster.client.until(
        CORE, "Machine", name, lambda one: one.get("status", {}).get("phase") == "Running", seconds=SECONDS
    )
    assert seen["spec"]["providerID"] == f"fake://{name}"
    assert seen["status"]["nodeRef"]["name"] == name
    secret = cluster.client.get("v1", "Secret", seen["spec"]["bootstrap"]["dataSecretName"])
    assert secret["metadata"]["annotations"]["bootstrap.slipway.dev/provisioner"] == provisioner
    machine = cluster.machines[name]
    assert {"type": "InternalIP", "address": machine.address} in seen["status"]["addresses"]
    return machine


def ready_node(control_plane: Machine, name: str) -> Object:
    """The node of that name once its kubelet says that it is ready."""
    found: Object = {}

    def ready() -> bool:
        found.update(json.loads(kubectl(control_plane, "get", "node", name, "--output=json") or "{}"))
        return condition(found, "Ready") == "True"

    control_plane.wait_until(ready, f"node {name} is not ready", timeout=120)
    return found


def taints(control_plane: Machine, name: str) -> str:
    """The taints of a node."""
    return kubectl(control_plane, "get", "node", name, "--output=jsonpath={.spec.taints}")


def token_of(control_plane: Machine, config: str) -> str:
    """The Secret with the bootstrap token that Slipway has made in the workload cluster for a config."""
    description = base64.b64encode(f"Slipway, for default/{config}".encode()).decode()
    said = kubectl(control_plane, "get", "secrets", "--namespace=kube-system", "--output=json")
    (found,) = [item for item in json.loads(said)["items"] if item.get("data", {}).get("description") == description]
    return str(found["metadata"]["name"])


def kubectl(machine: Machine, *words: str) -> str:
    """What kubectl prints on a control plane; "" when it fails."""
    done = machine.run(["kubectl", *words])
    return done.output if done.status == 0 else ""


def condition(item: Object, type_: str) -> str:
    """The status of a condition, "" without it."""
    found = item.get("status", {}).get("conditions", [])
    return next((str(one["status"]) for one in found if one["type"] == type_), "")
