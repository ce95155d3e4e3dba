"""The rendered manifests, judged by a real API server."""

import json
import subprocess
from collections.abc import Callable, Iterator

import pytest

from tests.deploy.kubernetes import rendered
from tools.cluster.environment import Environment
from tools.cluster.management import ManagementCluster

# One process has all tests, and starts their API server once.
pytestmark = [pytest.mark.engine, pytest.mark.timeout(400), pytest.mark.xdist_group("applied")]


@pytest.fixture(scope="module")
def bare(engine: Callable[..., None]) -> Iterator[Environment]:
    """An API server without Cluster API."""
    engine("kubebox-1.34")
    with ManagementCluster(None) as cluster:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "slipway-system"}}
        cluster.client.apply(namespace)
        yield cluster


def _kubectl(cluster: Environment, *arguments: str, given: str = "") -> str:
    done = subprocess.run(
        ["kubectl", *arguments],
        check=False,
        capture_output=True,
        text=True,
        input=given,
        env=cluster.environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("overlay", ["base", *rendered.OVERLAYS])
def test_rendered_manifests_are_valid(bare: Environment, overlay: str) -> None:
    """Every document is taken by server-side dry run, unknown fields being errors."""
    documents = [
        document
        for document in rendered.documents(overlay)
        if not document["apiVersion"].startswith("cert-manager.io/")
    ]
    assert len(documents) > 15
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    output = _kubectl(bare, "apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-", given=text)
    assert output.count("(server dry run)") == len(documents)


def test_pods_pass_the_restricted_standard(bare: Environment) -> None:
    """The API server enforces the standard in the namespace, and warns of no template."""
    documents = rendered.documents(rendered.SEPARATE[1])
    (namespace,) = [document for document in documents if document["kind"] == "Namespace"]
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"
    _kubectl(bare, "apply", "--server-side", "-f", "-", given=json.dumps(namespace))
    for deployment in (document for document in documents if document["kind"] in {"Deployment", "Job"}):
        template = deployment["spec"]["template"]
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "tried", "namespace": "slipway-system", "labels": template["metadata"]["labels"]},
            "spec": template["spec"],
        }
        _kubectl(bare, "apply", "--server-side", "--dry-run=server", "-f", "-", given=json.dumps(pod))
