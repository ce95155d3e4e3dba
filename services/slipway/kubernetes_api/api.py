"""The verbs of the Kubernetes API on plain trees."""

from collections.abc import AsyncIterator, Mapping

from slipway.kubernetes_api.connection import JSON, Connection
from slipway.kubernetes_api.failures import Invalid, Unreachable
from slipway.kubernetes_api.resources import Json, Resource

_APPLY = "application/apply-patch+yaml"
_MERGE = "application/merge-patch+json"
_METADATA_ITEM = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_METADATA_LIST = f"{JSON};as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
_PAGE = 500
_GROUP_AND_VERSION = 3
_Items = list[Json]
_IDENTITY = ("name", "uid", "resourceVersion")


class Api:
    """Calls one cluster. Every verb raises the kinds of ApiFailure."""

    def __init__(self, connection: Connection) -> None:
        """Use a connection."""
        self.connection = connection

    async def get(self, resource: Resource, namespace: str, name: str) -> Json:
        """Read an object."""
        body = await self.connection.call(
            "GET", resource.path(namespace, name), kind=resource.kind, name=f"{namespace}/{name}"
        )
        return _whole(resource, "GET", body)

    async def discover(self, path: str) -> Json:
        """Read what a group, or a version of one, has: `/apis/GROUP` or `/apis/GROUP/VERSION`."""
        if set(path) & set("?#%") or ".." in path or path.count("/") > _GROUP_AND_VERSION:
            raise Invalid("address", "APIGroup", "", "is not a valid group or version")
        return await self.connection.call("GET", path, kind="APIGroup", name=path)

    async def list(
        self, resource: Resource, namespace: str = "", *, selector: str = "", metadata_only: bool = False
    ) -> tuple[_Items, str]:
        """Read all objects and the version of the list, in pages."""
        items: _Items = []
        token = ""
        while True:
            page, metadata = await self._page(
                resource, namespace, size=_PAGE, token=token, selector=selector, metadata_only=metadata_only
            )
            items += page
            token = str(metadata.get("continue") or "")
            if not token:
                return items, metadata["resourceVersion"]

    async def page(
        self, resource: Resource, namespace: str = "", *, size: int, token: str = "", fields: str = ""
    ) -> tuple[_Items, str]:
        """Read a page of at most `size` objects, and give the token of the next one, "" at the end.

        `fields` is a field selector.
        """
        items, metadata = await self._page(resource, namespace, size=size, token=token, fields=fields)
        return items, str(metadata.get("continue") or "")

    async def _page(  # noqa: PLR0913  # keyword-only parts of a query
        self,
        resource: Resource,
        namespace: str,
        *,
        size: int,
        token: str,
        selector: str = "",
        fields: str = "",
        metadata_only: bool = False,
    ) -> tuple[_Items, Json]:
        query = {"limit": str(size)}
        if fields:
            query["fieldSelector"] = fields
        if selector:
            query["labelSelector"] = selector
        if token:
            query["continue"] = token
        page = await self.connection.call(
            "GET",
            resource.path(namespace),
            kind=resource.kind,
            query=query,
            accept=_METADATA_LIST if metadata_only else JSON,
        )
        items, metadata = page.get("items") or [], page.get("metadata")
        version = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
        if not isinstance(metadata, dict) or not isinstance(version, str) or not isinstance(items, list):
            raise Unreachable("GET", resource.kind, "", "no list")
        return [_whole(resource, "GET", entry) for entry in items], metadata

    def watch(  # noqa: PLR0913  # keyword-only parts of a query
        self,
        resource: Resource,
        namespace: str = "",
        *,
        version: str,
        selector: str = "",
        metadata_only: bool = False,
        seconds: int,
    ) -> AsyncIterator[Json]:
        """Give changes since a version, bookmarks among them, for at most so many seconds."""
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(seconds),
        }
        if selector:
            query["labelSelector"] = selector
        return self.connection.lines(
            resource.path(namespace),
            kind=resource.kind,
            query=query,
            accept=_METADATA_ITEM if metadata_only else JSON,
            idle_seconds=seconds + 15.0,
        )

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        """Create an object."""
        name = str(body.get("metadata", {}).get("name", ""))
        answer = await self.connection.call(
            "POST", resource.path(namespace), kind=resource.kind, name=f"{namespace}/{name}", body=body
        )
        return _whole(resource, "POST", answer)

    async def create_dry(self, resource: Resource, namespace: str, body: Json) -> None:
        """Check whether an object could be created; nothing is stored (dryRun=All)."""
        name = f"{namespace}/{body.get('metadata', {}).get('name', '')}"
        path, query = resource.path(namespace), {"dryRun": "All"}
        await self.connection.call("POST", path, kind=resource.kind, name=name, query=query, body=body)

    async def replace(self, resource: Resource, namespace: str, body: Json) -> Json:
        """Replace an object; with its resourceVersion only if no other client has changed it."""
        name = body["metadata"]["name"]
        answer = await self.connection.call(
            "PUT", resource.path(namespace, name), kind=resource.kind, name=f"{namespace}/{name}", body=body
        )
        return _whole(resource, "PUT", answer)

    async def apply_status(self, resource: Resource, namespace: str, body: Json, *, manager: str) -> Json:
        """Apply a status as its only author (server-side apply)."""
        name = body["metadata"]["name"]
        answer = await self.connection.call(
            "PATCH",
            resource.path(namespace, name, "status"),
            kind=resource.kind,
            name=f"{namespace}/{name}",
            query={"fieldManager": manager, "force": "true"},
            body=body,
            content_type=_APPLY,
        )
        return _whole(resource, "PATCH", answer)

    async def merge(self, resource: Resource, namespace: str, name: str, body: Json, *, subresource: str = "") -> Json:
        """Patch an object, or its subresource, by a merge patch."""
        answer = await self.connection.call(
            "PATCH",
            resource.path(namespace, name, subresource),
            kind=resource.kind,
            name=f"{namespace}/{name}",
            body=body,
            content_type=_MERGE,
        )
        return _whole(resource, "PATCH", answer)

    async def delete(
        self, resource: Resource, namespace: str, name: str, *, preconditions: Mapping[str, str] | None = None
    ) -> Json:
        """Delete an object, with `uid` or `resourceVersion` as preconditions only if it is still that one."""
        body: Json = {"kind": "DeleteOptions", "apiVersion": "v1"}
        if preconditions:
            body["preconditions"] = dict(preconditions)
        return await self.connection.call(
            "DELETE", resource.path(namespace, name), kind=resource.kind, name=f"{namespace}/{name}", body=body
        )


def _whole(resource: Resource, verb: str, answer: object) -> Json:
    """Check that an answer is an object that is stored, with the metadata that every caller needs."""
    metadata = answer.get("metadata") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or (resource.namespaced and not isinstance(metadata, dict)):
        raise Unreachable(verb, resource.kind, "", "no object")
    if resource.namespaced and not all(isinstance((metadata or {}).get(key), str) for key in _IDENTITY):
        raise Unreachable(verb, resource.kind, "", "no object")
    return answer
