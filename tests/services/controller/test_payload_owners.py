"""Payloads belong to a namespace: an address that was written into a Secret deletes nothing of others."""

import asyncio

import pytest

from slipway.bootstrapper.delivery.fetching import FOLDER, Payload
from slipway.controller.data_secret import PAYLOAD
from slipway.controller.payloads import NOTES, OWNERS
from slipway.reports.objects import Objects
from tests.services.controller.payload_scene import SPEC, annotations, stored
from tests.services.controller.scene import Scene


@pytest.mark.parametrize(
    "url", ["https://gateway.example.com/v1/bootstrap/", "https://elsewhere.example.com/%s", "%s", ""]
)
async def test_an_address_that_is_no_payload_deletes_nothing(fetching: Scene, store: Objects, url: str) -> None:
    """The annotations of a Secret are chosen by those who may write it."""
    payloads = fetching.payloads
    assert payloads is not None
    name = "a" * 64
    for path in (f"{FOLDER}/{name}", f"{NOTES}/{name}/1", f"{OWNERS}/{name}"):
        store.put(path, b"x")
    await payloads.delete(url.replace("%s", name), namespace="x")
    assert store.get(f"{FOLDER}/{name}") == store.get(f"{NOTES}/{name}/1") == b"x"
    await payloads.delete(payloads.fetching.url(name), namespace="x")
    assert not any(list(store.paths(folder)) for folder in (FOLDER, NOTES, OWNERS))


async def test_a_secret_of_another_namespace_deletes_nothing(fetching: Scene, store: Objects) -> None:
    """Who knows a payload's name, and may write Secrets elsewhere, neither deletes it nor sees who fetched it."""
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    payloads, url = fetching.payloads, annotations(fetching)[PAYLOAD]
    assert payloads is not None
    for number in range(2):
        store.put(f"{NOTES}/{url.rpartition('/')[2]}/{number}", b"192.0.2.1")
    before = stored(store)
    await payloads.delete(url, namespace="elsewhere")
    payloads.forget(url, namespace="elsewhere")
    await asyncio.gather(*payloads._tasks)
    assert await payloads.fetches(url, namespace="elsewhere") == []
    assert stored(store) == before
    assert await payloads.fetches(url, namespace="default") == ["192.0.2.1"] * 2
    await payloads.delete(url, namespace="default")
    assert stored(store) == {}


async def test_a_secret_that_names_another_payload_deletes_only_its_own(fetching: Scene, store: Objects) -> None:
    """A tenant can edit the annotations of its data Secret, and the upkeep goes by them."""
    payloads, name = fetching.payloads, "a" * 64
    assert payloads is not None
    victim = Payload(name, payloads.fetching.url(name), b"keys")
    await payloads.store(victim, namespace="elsewhere")
    for number in range(2):
        store.put(f"{NOTES}/{name}/{number}", b"192.0.2.1")
    fetching.worker(spec=SPEC)
    await fetching.reconcile()
    secret = fetching.api.find("Secret", "w") or {}
    secret["metadata"]["annotations"][PAYLOAD] = victim.url
    fetching.api.put(secret)
    fetching.later(hours=25)
    await fetching.reconcile()
    assert stored(store)[name] == b"keys"
    assert "192.0.2.1" not in str(fetching.api.all("Event"))
