"""Beside the cluster of all tests of the controller: Cluster API 1.12 with its in-memory infrastructure."""

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controller import manifests
from tests.controller.namespaces import made
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

        def site(name: str, kubeconfig: Path) -> Site:
            found = Site(environment, kept.workload_administration, name, kubeconfig)
            found.topology = Topology(CLUSTER, IN_MEMORY, namespace=name)
            return found

        with made(site, environment) as make:
            yield make()
