"""The objects of a kind, kept up to date by list and watch, and every change is reported to the listeners."""

import asyncio
import contextlib
import random
from collections.abc import Callable, Collection, Iterable, Mapping

import structlog

from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.failures import ApiFailure, Expired, NotFound
from slipway.kubernetes_api.packing import is_packed, packed, unpacked
from slipway.kubernetes_api.resources import Json, Resource

Key = tuple[str, str]
"""Namespace and name."""

Listener = Callable[[Json | None, Json | None], None]
"""Gets an object as it was and as it is; None where it was, or is, not there.

As it was, the spec may be packed: a listener compares metadata and status.
"""

WATCH_SECONDS = 280
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 10.0
_log = structlog.get_logger("slipway.controller")


class Informer:
    """A local copy of all objects of a kind. Reading it never waits.

    Attributes:
        synced: set once the first list of every namespace is in.
    """

    def __init__(  # noqa: PLR0913  # keyword-only limits of what is followed
        self,
        api: Api,
        resource: Resource,
        *,
        namespaces: Collection[str] = (),
        selector: str = "",
        metadata_only: bool = False,
        indexes: Mapping[str, Callable[[Json], Iterable[str]]] | None = None,
    ) -> None:
        """Follow a kind in some namespaces, or in all; `indexes` give the keys under which an object is found."""
        self.synced = asyncio.Event()
        self.resource = resource
        self._api = api
        self._versions = dict.fromkeys(namespaces or [""], "")
        self._unlisted = set(self._versions)
        self._selector = selector
        self._metadata_only = metadata_only
        self._indexers = dict(indexes or {})
        self._objects: dict[Key, Json] = {}
        self._indexed: dict[str, dict[str, set[Key]]] = {name: {} for name in self._indexers}
        self._listeners: list[Listener] = []
        self._tasks: list[asyncio.Task[None]] = []

    def listen(self, listener: Listener) -> None:
        """Report every change from now on."""
        self._listeners.append(listener)

    def get(self, namespace: str, name: str) -> Json | None:
        """Give an object. It is shared: do not change it."""
        item = self._objects.get((namespace, name))
        return None if item is None else unpacked(item)

    def is_large(self, namespace: str, name: str) -> bool:
        """Return whether the spec of an object is large, which costs memory and time wherever it is read."""
        item = self._objects.get((namespace, name))
        return item is not None and is_packed(item)

    def keys(self) -> Collection[Key]:
        """Give the keys of all objects."""
        return list(self._objects)

    def indexed(self, index: str, value: str) -> list[Json]:
        """Give the objects that an index has under a value."""
        return [unpacked(self._objects[key]) for key in self._indexed[index].get(value, ())]

    def start(self) -> None:
        """Follow from now on, in the background."""
        self._tasks = [asyncio.ensure_future(self._run(namespace)) for namespace in self._versions]

    async def stop(self) -> None:
        """Follow no longer."""
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _run(self, namespace: str) -> None:
        pause = _FIRST_PAUSE
        while True:
            try:
                if not self._versions[namespace]:
                    await self._list(namespace)
                await self._watch(namespace)
                pause = _FIRST_PAUSE
                continue
            except Expired:
                self._versions[namespace] = ""
            except NotFound:
                # The kind is not installed (yet): nothing of it is there.
                self._versions[namespace] = ""
                self._take_all(namespace, [])
            except ApiFailure as error:
                place = f"namespace {namespace}" if namespace else "all namespaces"
                where = f"{self.resource.plural} in {place}"
                _log.warning("watch failed, retrying", where=where, reason=type(error).__name__)
            await asyncio.sleep(pause * (0.5 + random.random() / 2))  # noqa: S311  # spreads load, hides nothing
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _list(self, namespace: str) -> None:
        items, version = await self._api.list(
            self.resource, namespace, selector=self._selector, metadata_only=self._metadata_only
        )
        self._take_all(namespace, items)
        self._versions[namespace] = version

    async def _watch(self, namespace: str) -> None:
        events = self._api.watch(
            self.resource,
            namespace,
            version=self._versions[namespace],
            selector=self._selector,
            metadata_only=self._metadata_only,
            seconds=WATCH_SECONDS,
        )
        async for event in events:
            body = event["object"]
            if event["type"] == "ERROR":
                raise Expired("watch", self.resource.kind)
            self._versions[namespace] = body["metadata"]["resourceVersion"]
            if event["type"] == "DELETED":
                self._put(_key(body), None)
            elif event["type"] != "BOOKMARK":
                self._put(_key(body), body)

    def _take_all(self, namespace: str, items: Iterable[Json]) -> None:
        objects = {_key(item): item for item in items}
        for key in [key for key in self._objects if key not in objects and namespace in {"", key[0]}]:
            self._put(key, None)
        for key, item in objects.items():
            self._put(key, item)
        self._unlisted.discard(namespace)
        if not self._unlisted:
            self.synced.set()

    def _put(self, key: Key, new: Json | None) -> None:
        kept = self._objects.get(key)
        old = unpacked(kept) if kept is not None and self._indexers else kept
        if new is not None:
            new["metadata"].pop("managedFields", None)
            if old is not None and _version(old) == _version(new):
                return
            self._objects[key] = packed(new)
        elif old is None:
            return
        else:
            del self._objects[key]
        self._index(key, old, new)
        for listener in self._listeners:
            listener(old, new)

    def _index(self, key: Key, old: Json | None, new: Json | None) -> None:
        for name, indexer in self._indexers.items():
            index = self._indexed[name]
            for value in indexer(old) if old is not None else ():
                index.get(value, set()).discard(key)
                if not index.get(value):
                    index.pop(value, None)
            for value in indexer(new) if new is not None else ():
                index.setdefault(value, set()).add(key)


def _key(item: Json) -> Key:
    return item["metadata"].get("namespace", ""), item["metadata"]["name"]


def _version(item: Json) -> tuple[str, str]:
    return item["metadata"]["uid"], item["metadata"]["resourceVersion"]
