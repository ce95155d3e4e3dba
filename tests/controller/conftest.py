"""One management cluster for all tests of the controller; each test has a namespace of its own in it."""

import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.controller import manifests
from tests.controller.namespaces import MakeSite, made
from tests.controller.site import Site
from tools.cluster import keeper
from tools.cluster.environment import Environment
from tools.cluster.keeper import Kept


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A folder that all workers of this run have in common."""
    own = tmp_path_factory.getbasetemp()
    return own if worker_id == "master" else own.parent


@pytest.fixture(scope="session")
def management(engine: Callable[..., None], run_folder: Path) -> Iterator[Kept]:
    """Cluster API 1.14 with the fake infrastructure, a workload API server, and what we ask of a cluster."""
    engine("cluster")
    with keeper.shared(run_folder / "cluster-1.14", cluster_api="1.14", workload="workload") as kept:
        _apply_once(kept.environment, run_folder)
        yield kept


def _apply_once(environment: Environment, folder: Path) -> None:
    """Let one worker of the run apply what all of them need."""
    done = folder / "slipway.applied"
    with (folder / "slipway.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            environment.apply(manifests.cluster_part())
            done.touch()


@pytest.fixture
def sites(management: Kept) -> Iterator[MakeSite]:
    """Makes namespaces of the test's own."""
    environment, workload = management.environment, management.workload_administration
    with made(lambda name, kubeconfig: Site(environment, workload, name, kubeconfig), environment) as make:
        yield make


@pytest.fixture
def site(sites: MakeSite) -> Site:
    """A namespace of the test's own."""
    return sites()
