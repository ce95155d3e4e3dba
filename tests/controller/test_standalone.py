"""A cluster without a control plane kind: Machines that refer to SlipwayConfigs of k0s, on machines that boot."""

import base64
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from slipway.bootstrapper.engines.k0s.secrets import JOIN_TOKENS
from tests.controller.test_all_the_way import OURS, SECONDS, condition, kubectl, ready_node, running, taints
from tools.cluster import slipway
from tools.cluster.environment import Environment
from tools.cluster.management import ManagementCluster
from tools.node.machine import Machine

pytestmark = [
    pytest.mark.boots,
    pytest.mark.engine,
    pytest.mark.long,
    pytest.mark.timeout(1200),
    pytest.mark.xdist_group("node"),
]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "cluster-api" / "standalone.yaml"
ENTRY, MEMBER, WORKER = "buoy-1", "buoy-2", "buoy-w"
NAMES = {"token-id", "token-secret", "description", "expiration"}


@pytest.fixture
def cluster(engine: Callable[..., None]) -> Iterator[Environment]:
    """Cluster API with Slipway in it, on machines that boot."""
    engine("cluster", "node-1.34-k0s")
    with ManagementCluster("1.14", real_machines=True) as made:
        slipway.start(made.supervisor, made, env=made.way_in)
        yield made


def test_machines_of_k0s_run_without_a_control_plane_kind(cluster: Environment) -> None:
    """A control plane begins the cluster; another and a worker join by tokens that Slipway has made in it."""
    documents = yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8"))
    cluster.apply([{**item, "metadata": {**item["metadata"], "namespace": "default"}} for item in documents])
    entry = running(cluster, ENTRY, provisioner="cloud-init")
    running(cluster, MEMBER, provisioner="ignition")
    running(cluster, WORKER, provisioner="ignition")
    for name in (ENTRY, MEMBER, WORKER):
        assert ready_node(entry, name)["spec"]["providerID"] == f"fake://{name}"
        assert condition(cluster.client.get(OURS, "SlipwayConfig", name), "Ready") == "True"

    for name, wanted in ((MEMBER, JOIN_TOKENS.control_plane), (WORKER, JOIN_TOKENS.worker)):
        token = token_values(entry, name)
        assert {key: value for key, value in token.items() if key not in NAMES} == wanted
    held = token_values(entry, WORKER)
    used = cluster.machines[WORKER].disk / "var/lib/k0s/kubelet-bootstrap.conf"
    assert f"{held['token-id']}.{held['token-secret']}" in used.read_text(encoding="utf-8")
    entry.wait_until(
        lambda: "uninitialized" not in taints(entry, WORKER), "core leaves the taint", timeout=SECONDS, asks=True
    )


def token_values(control_plane: Machine, config: str) -> dict[str, str]:
    """What the token holds that Slipway has made in the workload cluster for a config."""
    listed = json.loads(kubectl(control_plane, "get", "secrets", "--namespace=kube-system", "--output=json"))
    tokens = [
        {key: base64.b64decode(value).decode() for key, value in item["data"].items()}
        for item in listed["items"]
        if item["type"] == "bootstrap.kubernetes.io/token"
    ]
    (values,) = [token for token in tokens if token.get("description") == f"Slipway, for default/{config}"]
    return values
