"""Management clusters for tests: one for each release of Cluster API, shared by all workers of a run."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.cluster import keeper
from tools.cluster.environment import Environment
from tools.cluster.keeper import Kept
from tools.oracles.pytest_plugin import engine

__all__ = ["engine"]

WORKLOAD = "workload"


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def newest(engine: Callable[..., None], run_folder: Path) -> Iterator[Kept]:
    """Cluster API 1.14 with the fake infrastructure and a workload API server."""
    engine("cluster")
    with keeper.shared(run_folder / "cluster-1.14", cluster_api="1.14", workload=WORKLOAD) as kept:
        yield kept


@pytest.fixture(scope="session")
def older(engine: Callable[..., None], run_folder: Path) -> Iterator[Environment]:
    """Cluster API 1.12 with its in-memory infrastructure."""
    engine("cluster")
    with keeper.shared(run_folder / "cluster-1.12", cluster_api="1.12", workload="") as kept:
        yield kept.environment


@pytest.fixture
def cluster(newest: Kept) -> Environment:
    """The newest release's environment."""
    return newest.environment


@pytest.fixture
def namespace(cluster: Environment) -> Iterator[str]:
    """A namespace of the test's own, which is deleted at its end."""
    document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"test-{uuid.uuid4().hex[:8]}"}}
    cluster.client.create(document)
    yield document["metadata"]["name"]
    cluster.client.delete(document)
