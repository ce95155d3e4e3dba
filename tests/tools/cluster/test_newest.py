"""Cluster API 1.14 on the fake infrastructure: the real core and kubeadm providers, with their webhooks and roles."""

import base64
import http

import pytest
import yaml

from tests.tools.cluster.machines import SECONDS, is_provisioned, running, status, worker_of
from tests.tools.cluster.own_kind import OwnKind
from tools.cluster.audit import Call
from tools.cluster.environment import Environment
from tools.cluster.failures import Refused
from tools.cluster.keeper import Kept
from tools.cluster.topology import BOOTSTRAP, CORE, FAKE, Topology

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]


def test_a_cluster_of_kubeadm_machines_runs(newest: Kept, namespace: str) -> None:
    """Kubeadm's provider gives the data, the worker's lets kubeadm join for real, and deletion leaves nothing."""
    cluster, workload = newest.environment, newest.workload_administration
    topology = Topology("kubeadm", namespace=namespace)
    documents = topology.cluster(endpoint=workload.endpoint)
    cluster.apply(
        [
            workload.authority_secret("kubeadm", namespace=namespace),
            *documents,
            *topology.kubeadm_control_plane(),
            *topology.workers(),
        ]
    )
    worker = running(cluster, worker_of(cluster, "kubeadm-workers", namespace), namespace)
    assert worker["status"]["nodeRef"]["name"] == worker["metadata"]["name"]

    secret = cluster.client.get("v1", "Secret", worker["spec"]["bootstrap"]["dataSecretName"], namespace=namespace)
    files = yaml.safe_load(base64.b64decode(secret["data"]["value"]))["write_files"]
    (config,) = [file["content"] for file in files if file["path"].endswith("kubeadm-join-config.yaml")]
    join = cluster.dry_run_join(config.encode())
    assert join.succeeded, join.output
    assert "This node has joined the cluster" in join.output

    cluster.client.delete(documents[0])
    cluster.client.wait_gone(CORE, "Cluster", "kubeadm", namespace=namespace, seconds=SECONDS)
    assert cluster.client.list(CORE, "Machine", namespace=namespace) == []
    cluster.client.wait_gone("v1", "Secret", secret["metadata"]["name"], namespace=namespace)


def test_core_takes_the_data_of_a_foreign_kind(newest: Kept, namespace: str) -> None:
    """Of a kind that it never saw, once the contract's labels, status and aggregated role are there."""
    cluster, workload = newest.environment, newest.workload_administration
    own, topology = OwnKind("Foreign"), Topology("foreign", namespace=namespace)
    cluster.apply([own.definition("Config"), own.definition("ConfigTemplate"), own.aggregated_role()])
    cluster.apply(
        [
            workload.authority_secret("foreign", namespace=namespace),
            *topology.cluster(endpoint=workload.endpoint, control_plane=False),
            *topology.workers(own.template("foreign", namespace), name="foreign-workers"),
        ]
    )
    machine = worker_of(cluster, "foreign-workers", namespace)
    config = cluster.client.until(
        own.api_version, own.kind("Config"), machine, own.is_owned_by_machine, namespace=namespace, seconds=SECONDS
    )
    assert config["spec"] == {"greeting": "ahoy"}
    own.provide(cluster.client, config)
    seen = running(cluster, machine, namespace)
    assert seen["spec"]["bootstrap"]["dataSecretName"] == machine
    (ready,) = [condition for condition in seen["status"]["conditions"] if condition["type"] == "BootstrapConfigReady"]
    assert (ready["status"], ready["reason"]) == ("True", "ByHand")


def test_core_is_refused_without_the_aggregated_role(cluster: Environment, namespace: str) -> None:
    """Core runs as its own service account: it may not touch kinds that nobody gave it, and says so."""
    own, topology = OwnKind("Refused"), Topology("refused", namespace=namespace)
    cluster.apply([own.definition("Config"), own.definition("ConfigTemplate")])
    cluster.apply(
        [
            *topology.cluster(endpoint=("192.0.2.1", 6443), control_plane=False),
            *topology.workers(own.template("refused", namespace), name="refused-workers"),
        ]
    )

    def refused(call: Call) -> bool:
        return call.resource == "refusedconfigtemplates" and call.user.endswith(":capi-manager")

    call = cluster.audit.until(refused, seconds=SECONDS)
    assert call.status == http.HTTPStatus.FORBIDDEN
    assert cluster.client.list(CORE, "Machine", namespace=namespace) == []


def test_infrastructure_can_be_held_back(newest: Kept, namespace: str) -> None:
    """A machine waits for its infrastructure as long as a test wants it to."""
    cluster, workload = newest.environment, newest.workload_administration
    topology = Topology("held", namespace=namespace)
    documents = topology.cluster(endpoint=workload.endpoint)
    (infrastructure,) = [document for document in documents if document["kind"] == FAKE.kind("Cluster")]
    infrastructure["spec"]["hold"] = True
    cluster.apply([*documents, *topology.kubeadm_control_plane()])
    # One that came later and is not held tells that the provider has had its time.
    cluster.apply(Topology("later", namespace=namespace).cluster(endpoint=workload.endpoint, control_plane=False))
    cluster.client.until(CORE, "Cluster", "later", is_provisioned, namespace=namespace, seconds=SECONDS)
    assert not is_provisioned(cluster.client.get(CORE, "Cluster", "held", namespace=namespace))
    cluster.client.patch(infrastructure, {"spec": {"hold": False}})
    cluster.client.until(CORE, "Cluster", "held", is_provisioned, namespace=namespace, seconds=SECONDS)


def test_a_machine_pool_runs(newest: Kept, namespace: str) -> None:
    """The fake infrastructure fulfils the contract of pools, too: each replica becomes a node."""
    cluster, workload = newest.environment, newest.workload_administration
    topology = Topology("pooled", namespace=namespace)
    config = topology.kubeadm_template("pooled-pool")
    config |= {"kind": "KubeadmConfig", "spec": config["spec"]["template"]["spec"]}
    cluster.apply(
        [
            workload.authority_secret("pooled", namespace=namespace),
            *topology.cluster(endpoint=workload.endpoint),
            *topology.kubeadm_control_plane(),
            *topology.machine_pool(config, replicas=2),
        ]
    )
    pool = cluster.client.until(
        CORE,
        "MachinePool",
        "pooled-pool",
        lambda one: status(one).get("phase") == "Running" and len(status(one).get("nodeRefs", [])) == 2,
        namespace=namespace,
        seconds=SECONDS,
    )
    names = {noderef["name"] for noderef in pool["status"]["nodeRefs"]}
    assert names == {"pooled-pool-0", "pooled-pool-1"}


def test_webhooks_judge(cluster: Environment, namespace: str) -> None:
    """A KubeadmConfig that the provider's own webhook refuses is refused here, with its words."""
    twice = {"path": "/etc/twice", "content": "x"}
    config = {
        "apiVersion": BOOTSTRAP,
        "kind": "KubeadmConfig",
        "metadata": {"name": "twice", "namespace": namespace},
        "spec": {"files": [{**twice, "contentFrom": {"secret": {"name": "x", "key": "y"}}}, twice]},
    }
    with pytest.raises(Refused) as refused:
        cluster.client.create(config)
    assert refused.value.status == http.HTTPStatus.UNPROCESSABLE_ENTITY
    assert "admission webhook" in refused.value.message
