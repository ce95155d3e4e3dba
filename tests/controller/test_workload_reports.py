"""The manifests for workload clusters in a real API server, by kubelets' credentials: what RBAC and admission allow."""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
import yaml

from slipway.controller.workload_reports import KEY, NAMESPACE
from tests.bootstrapper.lowering.runners.cluster_api_server import Kubelet
from tests.bootstrapper.lowering.runners.conftest import linux_machine
from tests.bootstrapper.lowering.runners.events import EVENTS
from tests.bootstrapper.lowering.runners.plans import note, script
from tests.bootstrapper.lowering.runners.test_cluster_reports import JOIN, prepare
from tests.bootstrapper.lowering.runners.test_reports import ENTRY, stop, wait_for
from tools.cluster.access import Access, read
from tools.cluster.client import Client, Object
from tools.cluster.environment import Environment
from tools.cluster.failures import Refused
from tools.cluster.keeper import Kept

# One after the other: they share a namespace.
pytestmark = [pytest.mark.engine, pytest.mark.timeout(300), pytest.mark.xdist_group("workload-reports")]

MANIFESTS = Path(__file__).resolve().parents[2] / "deploy/kubernetes/workload-reports/workload-reports.yaml"
NODE = "reporting-1"


def report(name: str, text: str = "one", **metadata: Any) -> Object:
    """Give a report as a machine writes it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE, **metadata},
        "data": {KEY: text},
    }


def access_of(environment: Environment, node: str) -> Access:
    """Give what a kubelet has."""
    path = environment.kubeconfig_of_user(f"system:node:{node}", groups=["system:nodes"])
    return read(path.read_bytes())


def access_by_token(environment: Environment, token_id: str) -> Access:
    """Give what a bootstrap token lets do: the same user and groups, by a certificate."""
    path = environment.kubeconfig_of_user(f"system:bootstrap:{token_id}", groups=["system:bootstrappers"])
    return read(path.read_bytes())


def status_of(call: Callable[[], object]) -> int:
    """Give the status of a call."""
    try:
        call()
    except Refused as refused:
        return refused.status
    return HTTPStatus.OK


@pytest.fixture
def cluster(management: Kept) -> Iterator[Environment]:
    """An API server in which the policy is in force already."""
    environment = management.environment
    environment.apply(list(yaml.safe_load_all(MANIFESTS.read_text(encoding="utf-8"))))
    client = Client(access_of(environment, NODE))
    end = time.monotonic() + 60
    while status_of(lambda: client.apply(report("another"), dry_run=True)) != HTTPStatus.FORBIDDEN:
        assert time.monotonic() < end
        time.sleep(0.2)
    yield environment
    for item in environment.client.list("v1", "ConfigMap", namespace=NAMESPACE):
        with suppress(Refused):
            environment.client.delete(item)


def test_a_node_writes_its_own_report_and_nothing_else(cluster: Environment) -> None:
    """Its own object again and again; no other one, no read, list or deletion, no Event, nothing elsewhere."""
    client = Client(access_of(cluster, NODE))
    for text in ("one", "two"):
        assert status_of(lambda text=text: client.apply(report(NODE, text))) == HTTPStatus.OK
    assert cluster.client.get("v1", "ConfigMap", NODE, namespace=NAMESPACE)["data"] == {KEY: "two"}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "x", "namespace": NAMESPACE},
        "involvedObject": {"kind": "Node", "name": NODE},
        "reason": "x",
    }
    elsewhere = report(NODE)
    elsewhere["metadata"]["namespace"] = "default"
    generated = copy.deepcopy(report(""))
    generated["metadata"] = {"generateName": f"{NODE}-", "namespace": NAMESPACE}
    calls: dict[str, Callable[[], object]] = {
        "another report": lambda: client.apply(report("another")),
        "a created one": lambda: client.create(report("another")),
        "a generated name": lambda: client.create(generated),
        "the authority's": lambda: client.apply(report("kube-root-ca.crt")),
        "read": lambda: client.get("v1", "ConfigMap", NODE, namespace=NAMESPACE),
        "list": lambda: client.list("v1", "ConfigMap", namespace=NAMESPACE),
        "delete": lambda: client.delete(report(NODE)),
        "an event": lambda: client.create(event),
        "elsewhere": lambda: client.apply(elsewhere),
    }
    statuses = {name: status_of(call) for name, call in calls.items()}
    assert statuses == dict.fromkeys(calls, HTTPStatus.FORBIDDEN)


def test_a_token_writes_the_report_of_its_id_and_nothing_else(cluster: Environment) -> None:
    """Before a machine has joined: no Node's report, none of another token, no read and no deletion."""
    client = Client(access_by_token(cluster, "abcdef"))
    own = "bootstrap-token-abcdef"
    for text in ("one", "two"):
        assert status_of(lambda text=text: client.apply(report(own, text))) == HTTPStatus.OK
    assert cluster.client.get("v1", "ConfigMap", own, namespace=NAMESPACE)["data"] == {KEY: "two"}
    names = (NODE, "abcdef", "bootstrap-token-ghijkl", "bootstrap-token-abcdef-2", "kube-root-ca.crt")
    calls: dict[str, Callable[[], object]] = {name: lambda name=name: client.apply(report(name)) for name in names}
    calls |= {
        "read": lambda: client.get("v1", "ConfigMap", own, namespace=NAMESPACE),
        "list": lambda: client.list("v1", "ConfigMap", namespace=NAMESPACE),
        "delete": lambda: client.delete(report(own)),
        "too long": lambda: client.apply(report(own, "x" * 8193)),
        "labels": lambda: client.apply(report(own, labels={"a": "b"})),
    }
    statuses = {name: status_of(call) for name, call in calls.items()}
    assert statuses == dict.fromkeys(calls, HTTPStatus.FORBIDDEN)
    node = Client(access_of(cluster, NODE))
    assert status_of(lambda: node.apply(report(own))) == HTTPStatus.FORBIDDEN


def test_what_a_report_may_hold(cluster: Environment) -> None:
    """One key of 8192 characters at most, and no metadata by which other programs would act on it."""
    client = Client(access_of(cluster, NODE))
    client.apply(report(NODE, "x" * 8192))
    owner = {"apiVersion": "v1", "kind": "Node", "name": NODE, "uid": "1"}
    refused: dict[str, Object] = {
        "too long": report(NODE, "x" * 8193),
        "another key": {**report(NODE), "data": {KEY: "one", "other": "two"}},
        "bytes": {**report(NODE), "binaryData": {"other": "AAAA"}},
        "immutable": {**report(NODE), "immutable": True},
        "labels": report(NODE, labels={"a": "b"}),
        "annotations": report(NODE, annotations={"a": "b"}),
        "owners": report(NODE, ownerReferences=[owner]),
        "finalizers": report(NODE, finalizers=["example.com/a"]),
    }
    statuses = {name: status_of(lambda item=item: client.apply(item)) for name, item in refused.items()}
    assert statuses == dict.fromkeys(refused, HTTPStatus.FORBIDDEN)


def test_a_machine_writes_its_report(cluster: Environment, tmp_path: Path) -> None:
    """The machine's own program: the object has its events to the last one."""
    access = access_of(cluster, NODE)
    assert access.certificate is not None
    pem = access.certificate.certificate + access.certificate.key
    for machine in linux_machine("dash", tmp_path):
        prepare(machine, Kubelet(access.server, access.authority, pem), script("j", JOIN), note("z"))
        assert machine.run(ENTRY) == 0
        wait_for(lambda: "systemctl disable slipway-cluster-report" in machine.calls)  # noqa: B023  # there is one
        (item,) = [each for each in cluster.client.list("v1", "ConfigMap", namespace=NAMESPACE)
                   if each["metadata"]["name"] == NODE]  # fmt: skip
        assert item["data"] == {KEY: machine.path(EVENTS).read_text()}
        stop(machine)
