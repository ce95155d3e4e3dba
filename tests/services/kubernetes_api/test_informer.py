"""The local copy of a kind, by a list and watches that break in every way."""

import asyncio
import copy
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from slipway.kubernetes_api import packing
from slipway.kubernetes_api.failures import NotFound, Unreachable
from slipway.kubernetes_api.informer import Informer
from slipway.kubernetes_api.resources import MACHINES, Json

pytestmark = pytest.mark.long


def _item(name: str, version: int, **more: Any) -> Json:
    metadata = {"name": name, "namespace": "n", "uid": name, "resourceVersion": str(version), "managedFields": [1]}
    return {"kind": "Machine", "metadata": metadata, **more}


class Scripted:
    """Gives lists and watches as they were written down; after the last it stays silent."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.versions: list[str] = []
        self.silent = asyncio.Event()

    async def list(self, *_: Any, **__: Any) -> tuple[list[Json], str]:
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        assert isinstance(step, tuple), "a watch was expected"
        return list(step[0]), step[1]

    async def watch(self, *_: Any, version: str, **__: Any) -> AsyncIterator[Json]:
        self.versions.append(version)
        if not self.script:
            self.silent.set()
            await asyncio.Event().wait()
        for event in self.script.pop(0):
            if isinstance(event, Exception):
                raise event
            yield event


async def _followed(*script: Any, **options: Any) -> tuple[Informer, Scripted, list[tuple[Json | None, Json | None]]]:
    api = Scripted(*script)
    informer = Informer(api, MACHINES, **options)  # type: ignore[arg-type]
    changes: list[tuple[Json | None, Json | None]] = []
    informer.listen(lambda old, new: changes.append((old, new)))
    informer.start()
    async with asyncio.timeout(30):
        await api.silent.wait()
    await informer.stop()
    return informer, api, changes


async def test_what_was_listed_and_what_changed() -> None:
    """Added, modified and deleted objects, each told with what it was before; bookmarks only move the place."""
    informer, api, changes = await _followed(
        ([_item("a", 1)], "10"),
        [
            {"type": "ADDED", "object": _item("b", 11)},
            {"type": "MODIFIED", "object": _item("a", 12, spec={"x": 1})},
            {"type": "DELETED", "object": _item("b", 13)},
            {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "20"}}},
        ],
    )
    names = [
        ((old or {}).get("metadata", {}).get("name"), (new or {}).get("metadata", {}).get("name"))
        for old, new in changes
    ]
    assert names == [(None, "a"), (None, "b"), ("a", "a"), ("b", None)]
    assert informer.get("n", "b") is None
    found = informer.get("n", "a")
    assert found is not None
    assert found["spec"] == {"x": 1}
    assert "managedFields" not in found["metadata"]
    assert api.versions == ["10", "20"]


@pytest.mark.parametrize(
    ("broken", "again"),
    [
        (Unreachable("watch", "Machine"), False),
        ({"type": "ERROR", "object": {"code": 410}}, True),
    ],
    ids=["connection", "history"],
)
async def test_a_broken_watch_loses_nothing(broken: Any, again: bool) -> None:
    """A lost connection goes on where it was; lost history is listed anew, and what went meanwhile is told."""
    after: list[Any] = [([_item("b", 12)], "30")] if again else []
    informer, api, changes = await _followed(
        ([_item("a", 1), _item("b", 2)], "10"), [{"type": "MODIFIED", "object": _item("b", 12)}, broken], *after
    )
    assert api.versions == (["10", "30"] if again else ["10", "12"])
    assert (informer.get("n", "a") is None) is again
    assert len(changes) == (4 if again else 3)


async def test_a_kind_that_is_not_installed_is_empty() -> None:
    """MachinePools may be switched off: the controller does not wait for them."""
    informer, _, _ = await _followed(NotFound("GET", "Machine"), ([_item("a", 1)], "10"))
    assert informer.synced.is_set()
    assert informer.get("n", "a") is not None


async def test_an_index_follows_the_objects() -> None:
    """An object is found under its new value and not under the one of before."""
    informer, _, _ = await _followed(
        ([_item("a", 1, spec={"c": "x"}), _item("b", 2, spec={"c": "x"})], "10"),
        [
            {"type": "MODIFIED", "object": _item("a", 11, spec={"c": "y"})},
            {"type": "DELETED", "object": _item("b", 12)},
        ],
        indexes={"c": lambda one: [one["spec"]["c"]]},
    )
    assert informer.indexed("c", "x") == []
    assert [one["metadata"]["name"] for one in informer.indexed("c", "y")] == ["a"]


class ByNamespace:
    """Gives each namespace its own list, and no change."""

    def __init__(self, **names: list[str]) -> None:
        self.names = names
        self.asked: list[str] = []
        self.open = asyncio.Event()
        self.listed = asyncio.Event()

    async def list(self, _: Any, namespace: str, **__: Any) -> tuple[list[Json], str]:
        self.asked.append(namespace)
        if namespace == "late":
            await self.open.wait()
        items = [_item(name, 1) for name in self.names[namespace]]
        for item in items:
            item["metadata"]["namespace"] = namespace
        return items, "1"

    async def watch(self, *_: Any, **__: Any) -> AsyncIterator[Json]:
        self.listed.set()
        await asyncio.Event().wait()
        yield {}


async def test_some_namespaces_are_one_copy() -> None:
    """It is whole when the last of them is in, and what one list lacks takes nothing of another's away."""
    api = ByNamespace(one=["a", "b"], late=["a"])
    informer = Informer(api, MACHINES, namespaces=["one", "late"])  # type: ignore[arg-type]
    informer.start()
    async with asyncio.timeout(30):
        await api.listed.wait()
        assert not informer.synced.is_set()
        api.open.set()
        await informer.synced.wait()
    await informer.stop()
    assert set(informer.keys()) == {("one", "a"), ("one", "b"), ("late", "a")}
    assert sorted(api.asked) == ["late", "one"]


COUNTLESS = {"c": "x", "segments": [{"text": str(number)} for number in range(60_000)]}


async def test_a_large_object_is_small_at_rest() -> None:
    """Its spec is what it was, for readers and for an index, and is kept in a tenth of the memory of its values."""
    informer = Informer(None, MACHINES, indexes={"c": lambda item: [item["spec"]["c"]]})  # type: ignore[arg-type]
    tracemalloc.start()
    try:
        values = copy.deepcopy(COUNTLESS)
        of_one, _ = tracemalloc.get_traced_memory()
        del values
        before, _ = tracemalloc.get_traced_memory()
        for name in ("a", "b", "c"):
            informer._put(("n", name), _item(name, 1, spec=copy.deepcopy(COUNTLESS)))
        informer._put(("n", "a"), _item("a", 11, spec={"c": "y"}))
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert kept < of_one / 10
    large = informer.get("n", "b")
    assert large is not None
    assert large["spec"] == COUNTLESS
    assert [informer.is_large("n", name) for name in ("a", "b", "none")] == [False, True, False]
    assert sorted(item["metadata"]["name"] for item in informer.indexed("c", "x")) == ["b", "c"]
    assert [item["metadata"]["name"] for item in informer.indexed("c", "y")] == ["a"]


@pytest.mark.parametrize(
    ("spec", "large"),
    [
        ({"os": {"files": [{"path": f"/a{number}", "content": {"text": "x" * 100}} for number in range(200)]}}, False),
        ({"text": "x" * 70_000}, True),
        ({str(number): 1 for number in range(3_000)}, True),
        ({"x" * 70_000: 1}, True),
        ({"a": [[[]] * 3_000]}, True),
        (None, False),
    ],
)
def test_what_is_large(spec: Any, large: bool) -> None:
    """Many values, or much text, in values and in keys; an object without a spec is not."""
    item = packing.packed({"metadata": {}, "spec": spec})
    assert packing.is_packed(item) is large
    assert packing.unpacked(item) == {"metadata": {}, "spec": spec}
