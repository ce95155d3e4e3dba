"""One installation for all tests of this folder that run pods."""

import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.controller.site import Site
from tests.deploy.kubernetes.installation import Installation, installed


@pytest.fixture(scope="package")
def installation(engine: Callable[..., None]) -> Iterator[Installation]:
    """All of Slipway in a cluster of its own."""
    engine("kubebox-1.34", "cluster-api-1.14", "cluster-api-1.14-manifests")
    with installed() as made:
        yield made


@pytest.fixture
def site(installation: Installation) -> Site:
    """A namespace for machines."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    installation.cluster.client.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    cluster = installation.cluster
    return Site(cluster, installation.workload, name, cluster.kubeconfig)


@pytest.fixture(autouse=True)
def pods_run(request: pytest.FixtureRequest) -> None:
    """Begin with pods that run: a controller that has lost its leadership on a busy machine ends, by design."""
    if "installation" in request.fixturenames:
        request.getfixturevalue("installation").revive()
