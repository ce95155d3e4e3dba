"""What a service needs of a Kubernetes API: a seam, behind which tests put an API of their own."""

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
