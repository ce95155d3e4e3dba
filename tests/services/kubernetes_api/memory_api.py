"""A small Kubernetes API in memory: names, uids, versions, conflicts and owner references, and nothing else.

What a real API server does beyond that (schemas, admission, garbage collection, watches) is tested on a real one, in
tests/controller.
"""

import copy
import itertools
from collections.abc import Callable
from datetime import UTC, datetime

from slipway.kubernetes_api.failures import AlreadyExists, Conflict, Invalid, NotFound
from slipway.kubernetes_api.resources import Json, Resource

NOW = datetime(2026, 11, 1, 12, 0, 0, tzinfo=UTC)

Call = tuple[str, str, str, str]
"""Verb, kind, namespace and name."""

WRITES = frozenset({"create", "replace", "apply_status", "merge", "delete"})


class MemoryApi:
    """Objects by kind, namespace and name.

    Attributes:
        calls: every call, in order.
        before: called before each call; may raise in its place.
        after: called after each call that succeeded; may raise although it did.
        now: time of creation of new objects.
    """

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.before: Callable[[Call], None] = lambda _: None
        self.after: Callable[[Call], None] = lambda _: None
        self.now = NOW
        self.discovery: dict[str, Json] = {}
        self._objects: dict[tuple[str, str, str], Json] = {}
        self._counter = itertools.count(1)
        self.closed = False

    @property
    def writes(self) -> list[Call]:
        """The calls that write."""
        return [call for call in self.calls if call[0] in WRITES]

    def put(self, item: Json) -> Json:
        """Put an object in, as if somebody had made it before."""
        item = copy.deepcopy(item)
        metadata = item["metadata"]
        metadata.setdefault("namespace", "default")
        metadata.setdefault("uid", f"uid-{next(self._counter)}")
        metadata.setdefault("generation", 1)
        metadata.setdefault("creationTimestamp", self.now.strftime("%Y-%m-%dT%H:%M:%SZ"))
        metadata["resourceVersion"] = str(next(self._counter))
        self._objects[item["kind"], metadata["namespace"], metadata["name"]] = item
        return copy.deepcopy(item)

    def remove(self, kind: str, name: str) -> None:
        """Take an object out, as if it had been deleted before."""
        del self._objects[kind, "default", name]

    def all(self, kind: str) -> list[Json]:
        """Give all objects of a kind."""
        return [copy.deepcopy(one) for key, one in self._objects.items() if key[0] == kind]

    def find(self, kind: str, name: str, namespace: str = "default") -> Json | None:
        """Give an object or None."""
        found = self._objects.get((kind, namespace, name))
        return copy.deepcopy(found) if found is not None else None

    def lookup(self, kind: str) -> "MemoryLookup":
        """Give the local copy of a kind, which is always up to date."""
        return MemoryLookup(self, kind)

    async def get(self, resource: Resource, namespace: str, name: str) -> Json:
        with_call = self._call("get", resource, namespace, name)
        found = self.find(resource.kind, name, namespace)
        if found is None:
            raise NotFound("GET", resource.kind, name)
        self.after(with_call)
        return found

    async def discover(self, path: str) -> Json:
        self.before(("get", "APIGroup", "", path))
        self.calls.append(("get", "APIGroup", "", path))
        if path not in self.discovery:
            raise NotFound("GET", "APIGroup", path)
        return self.discovery[path]

    async def create(self, resource: Resource, namespace: str, body: Json) -> Json:
        name = body.get("metadata", {}).get("name", "")
        call = self._call("create", resource, namespace, name)
        if self.find(resource.kind, name, namespace) is not None:
            raise AlreadyExists("POST", resource.kind, name)
        body = {**body, "metadata": {**body.get("metadata", {}), "namespace": namespace}}
        found = self.put(body)
        self.after(call)
        return found

    async def page(
        self, resource: Resource, namespace: str = "", *, size: int, token: str = "", fields: str = ""
    ) -> tuple[list[Json], str]:
        call = self._call("page", resource, namespace, token)
        items = [item for item in self.all(resource.kind) if item["metadata"]["namespace"] == namespace]
        if fields:
            key, _, value = fields.removeprefix("spec.").partition("=")
            items = [item for item in items if item["spec"].get(key) == value]
        start = int(token or 0)
        self.after(call)
        return items[start : start + size], str(start + size) if start + size < len(items) else ""

    async def create_dry(self, resource: Resource, namespace: str, body: Json) -> None:
        name = body.get("metadata", {}).get("name", "")
        self._call("create_dry", resource, namespace, name)
        if self.find(resource.kind, name, namespace) is not None:
            raise AlreadyExists("POST", resource.kind, name)

    async def replace(self, resource: Resource, namespace: str, body: Json) -> Json:
        metadata = body["metadata"]
        call = self._call("replace", resource, namespace, metadata["name"])
        old = self.find(resource.kind, metadata["name"], namespace)
        if old is None:
            raise NotFound("PUT", resource.kind, metadata["name"])
        wanted = metadata.get("resourceVersion")
        _same(old, body, "PUT")
        if wanted is None and resource.kind == "Lease":
            # As the API server does for kinds that do not allow an unconditional update.
            raise Invalid("PUT", resource.kind, metadata["name"], "metadata.resourceVersion")
        kept = {key: old["metadata"][key] for key in ("uid", "creationTimestamp", "generation")}
        found = self.put({**body, "metadata": {**metadata, **kept, "namespace": namespace}})
        self.after(call)
        return found

    async def apply_status(self, resource: Resource, namespace: str, body: Json, *, manager: str) -> Json:
        assert manager
        name = body["metadata"]["name"]
        call = self._call("apply_status", resource, namespace, name)
        old = self.find(resource.kind, name, namespace)
        if old is None:
            raise NotFound("PATCH", resource.kind, name)
        if body["metadata"].get("uid", old["metadata"]["uid"]) != old["metadata"]["uid"]:
            raise Conflict("PATCH", resource.kind, name)
        found = self.put({**old, "status": body["status"]})
        self.after(call)
        return found

    async def merge(self, resource: Resource, namespace: str, name: str, body: Json, *, subresource: str = "") -> Json:
        call = self._call("merge", resource, namespace, name)
        old = self.find(resource.kind, name, namespace)
        if old is None:
            raise NotFound("PATCH", resource.kind, name)
        _same(old, body, "PATCH")
        # As the API server does: a subresource changes nothing beside it, and nothing else changes the status.
        subresource = "status" if subresource == "approval" else subresource
        parts = {subresource} if subresource else body.keys() - {"status"}
        found = self.put(_merged(old, {key: value for key, value in body.items() if key in {*parts, "metadata"}}))
        self.after(call)
        return found

    async def delete(
        self, resource: Resource, namespace: str, name: str, *, preconditions: dict[str, str] | None = None
    ) -> Json:
        call = self._call("delete", resource, namespace, name)
        old = self.find(resource.kind, name, namespace)
        if old is None:
            raise NotFound("DELETE", resource.kind, name)
        if any(old["metadata"][key] != value for key, value in (preconditions or {}).items()):
            raise Conflict("DELETE", resource.kind, name)
        del self._objects[resource.kind, namespace, name]
        self.after(call)
        return {}

    async def close(self) -> None:
        self.closed = True

    def _call(self, verb: str, resource: Resource, namespace: str, name: str) -> Call:
        call = (verb, resource.kind, namespace, name)
        self.before(call)
        self.calls.append(call)
        return call


class MemoryLookup:
    """Reads a kind without a call."""

    def __init__(self, api: MemoryApi, kind: str) -> None:
        self._api = api
        self._kind = kind

    def get(self, namespace: str, name: str) -> Json | None:
        return self._api.find(self._kind, name, namespace)


def _same(old: Json, body: Json, verb: str) -> None:
    """Refuse a write that is meant for another object, or another version of it."""
    wanted = body.get("metadata", {})
    if any(wanted.get(key, old["metadata"][key]) != old["metadata"][key] for key in ("uid", "resourceVersion")):
        raise Conflict(verb, old["kind"], old["metadata"]["name"])


def _merged(old: Json, patch: Json) -> Json:
    found = dict(old)
    for key, value in patch.items():
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = _merged(found[key], value)
        else:
            found[key] = value
    return found
