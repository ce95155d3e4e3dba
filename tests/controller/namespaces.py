"""Namespaces of a management cluster that many tests share, each of one test, and gone with it."""

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.controller import manifests
from tests.controller.site import Site
from tools.cluster.environment import Environment

MakeSite = Callable[[], Site]


@contextmanager
def made(site: Callable[[str, Path], Site], environment: Environment) -> Iterator[MakeSite]:
    """Give what makes sites by a fresh namespace and the kubeconfig of the controller; the namespaces go in the end."""
    namespaces: list[str] = []

    def make() -> Site:
        name = f"test-{uuid.uuid4().hex[:8]}"
        environment.client.create(_namespace(name))
        namespaces.append(name)
        return site(name, environment.kubeconfig_of_account(manifests.NAMESPACE, manifests.ACCOUNT))

    def end() -> None:
        for name in namespaces:
            # The configuration of a test's webhook is not in its namespace.
            environment.client.delete(manifests.webhook_name(name))
            environment.client.delete(_namespace(name))

    yield make
    with ThreadPoolExecutor(1) as fresh:
        # A thread has a connection of its own; this one's may have been closed while the test waited elsewhere.
        fresh.submit(end).result()


def _namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
