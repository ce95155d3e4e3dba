"""Beside the cluster of all tests of the controller: Cluster API 1.12 with its in-memory infrastructure."""

import fcntl
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.controller import manifests
from tests.controller.site import CLUSTER, Site
from tools.cluster import keeper
from tools.cluster.topology import IN_MEMORY, Topology


@pytest.fixture
def older(engine: Callable[..., None], run_folder: Path) -> Iterator[Site]:
    """A namespace in it; there is no workload API server of ours: the infrastructure has one for each cluster."""
    engine("cluster")
    folder = run_folder / "cluster-1.12"
    with keeper.shared(folder, cluster_api="1.12", workload="") as kept:
        environment = kept.environment
        with (folder / "opt-in.lock").open("w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            environment.apply(manifests.cluster_part())
        name = f"test-{uuid.uuid4().hex[:8]}"
        document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        environment.client.create(document)
        kubeconfig = environment.kubeconfig_of_account(manifests.NAMESPACE, manifests.ACCOUNT)
        site = Site(environment, kept.workload_administration, name, kubeconfig)
        site.topology = Topology(CLUSTER, IN_MEMORY, namespace=name)
        yield site
        environment.client.delete(document)


@pytest.fixture(autouse=True)
def no_webhook_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Take the configuration away that a test's webhook leaves behind, since that one is not of its namespace."""
    sites = [request.getfixturevalue(name) for name in ("site", "older") if name in request.fixturenames]
    yield
    for site in sites:
        with ThreadPoolExecutor(1) as fresh:
            fresh.submit(site.environment.client.delete, manifests.webhook_name(site.namespace)).result()
