"""Objects of a Kubernetes API: what is read alike of all of them, and how a service reads and writes them.

The verbs are a seam, behind which tests put an API of their own.
"""

from dataclasses import dataclass
from typing import Protocol

from slipway.kubernetes_api.resources import Json, Resource


class Objects(Protocol):
    """Reads and writes objects. Every verb raises the kinds of ApiFailure; see api.py."""

    async def get(self, resource: Resource, namespace: str, name: str) -> Json: ...

    async def discover(self, path: str) -> Json: ...

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json: ...

    async def replace(self, resource: Resource, namespace: str, body: Json) -> Json: ...

    async def apply_status(self, resource: Resource, namespace: str, body: Json, *, manager: str) -> Json: ...

    async def merge(
        self, resource: Resource, namespace: str, name: str, body: Json, *, subresource: str = ""
    ) -> Json: ...

    async def delete(
        self, resource: Resource, namespace: str, name: str, *, preconditions: dict[str, str] | None = None
    ) -> Json: ...


class Lookup(Protocol):
    """A local copy of the objects of a kind; see informer.py."""

    def get(self, namespace: str, name: str) -> Json | None: ...


@dataclass(frozen=True, slots=True)
class ApiObject:
    """An object of a namespace, as the API gives it."""

    tree: Json

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.tree["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Its uid."""
        return str(self.tree["metadata"]["uid"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.tree["metadata"]["namespace"])

    @property
    def deleting(self) -> bool:
        """Whether it is about to go."""
        return bool(self.tree["metadata"].get("deletionTimestamp"))
