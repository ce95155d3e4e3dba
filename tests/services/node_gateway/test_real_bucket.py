"""Payloads and files in a real object store: what the controller stores and signs, and what the gateway serves."""

import asyncio
import hashlib
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta

import aiohttp
import pytest

from slipway.bootstrapper.delivery.fetching import Fetching, Payload, payload_name
from slipway.controller.payloads import Payloads
from slipway.node_gateway.server import listening
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import LEFTOVER_DAYS, Store, warn_of_leftovers
from slipway.reports.objects import Objects
from tests.services.node_gateway.real_bucket import server
from tools.oracles.object_store import ObjectStore

__all__ = ["server"]
pytestmark = [pytest.mark.engine, pytest.mark.timeout(300)]

TICKET = "ticket-of-machine-a"
NAME = payload_name(TICKET)
DATA = b"#cloud-config\n"
CONTENT = bytes(range(256)) * 1024
DIGEST = hashlib.sha256(CONTENT).hexdigest()
BEARER = {"Authorization": f"Bearer {TICKET}"}


@pytest.fixture
def payloads(server: ObjectStore) -> Iterator[Payloads]:
    """Give the payloads of a controller that signs addresses of the bucket."""
    url = f"{server.bucket('payloads')}/slipway"
    base = f"{server.address}/payloads/slipway"
    stored = Payloads(Objects.of(url, "--payload-store"), Fetching(frozenset({"metal"}), base), presigned=True)
    yield stored
    stored.objects.close()


def signed(payloads: Payloads, name: str = NAME) -> str:
    """Give the address that a machine gets."""
    sign = payloads.fetching_of(bytes(32), config_uid="u", rotation=0).sign
    assert sign is not None
    return sign(name)


async def fetch(url: str, method: str = "GET") -> tuple[int, bytes]:
    """Ask as a machine does, which has no credential."""
    async with aiohttp.ClientSession() as client, client.request(method, url) as answer:
        return answer.status, await answer.read()


async def test_a_signed_address_opens_one_payload(payloads: Payloads) -> None:
    """It reads its object and no other, writes nothing, and without its signature it opens nothing."""
    payloads.check_presigned()
    other = payload_name("ticket-of-machine-b")
    for name, data in ((NAME, DATA), (other, b"another's")):
        await payloads.store(Payload(name, payloads.fetching.url(name), data), namespace="default")
    url = signed(payloads)
    assert await fetch(url) == (200, DATA)
    refused = [
        (url.replace(NAME, other), "GET", "another payload"),
        (url[:-1] + ("0" if url[-1] != "0" else "1"), "GET", "another signature"),
        (url.replace("X-Amz-Expires=90000", "X-Amz-Expires=900000"), "GET", "a longer time"),
        (url.partition("?")[0], "GET", "no signature"),
        (url, "PUT", "a write"),
        (url, "DELETE", "a deletion"),
        (f"{payloads.fetching.base}/?list-type=2", "GET", "a list"),
    ]
    for address, method, reason in refused:
        status, body = await fetch(address, method)
        assert status in {400, 403}, (reason, status)
        assert DATA not in body, reason
    assert await fetch(url) == (200, DATA)


async def test_an_address_expires(payloads: Payloads) -> None:
    """The store itself refuses it when its time is over, also where the payload is there still."""
    url = payloads.fetching.url(NAME)
    await payloads.store(Payload(NAME, url, DATA), namespace="default")
    short = payloads.objects.signed_address(f"payload/{NAME}", timedelta(seconds=1))
    async with asyncio.timeout(120):
        while (await fetch(short))[0] == 200:  # noqa: ASYNC110  # the clock of the store
            await asyncio.sleep(0.2)
    assert (await fetch(short))[0] in {400, 403}
    assert await fetch(signed(payloads)) == (200, DATA)


async def test_a_payload_that_was_deleted_is_not_there(payloads: Payloads) -> None:
    """Neither for its signed address, nor in a list; deleting it twice is no error, nor is one that never was."""
    url = payloads.fetching.url(NAME)
    await payloads.store(Payload(NAME, url, DATA), namespace="default")
    assert await payloads.has(url, namespace="default")
    assert not await payloads.has(url, namespace="elsewhere")
    await payloads.delete(url, namespace="elsewhere")
    assert await fetch(signed(payloads)) == (200, DATA)
    for _ in range(2):
        await payloads.delete(url, namespace="default")
    assert (await fetch(signed(payloads)))[0] == 404
    assert not await payloads.has(url, namespace="default")
    assert [path for path, _ in payloads.objects.paths("payload")] == []
    assert [path for path, _ in payloads.objects.paths("owners")] == []


@asynccontextmanager
async def gateway(url: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Serve a bucket; give a client of it."""
    settings = GatewaySettings.load(
        {"listen_address": "127.0.0.1:0", "insecure": True}, store=url, payload_notes=url, drain_grace_seconds=1.0
    )
    async with (
        listening(settings, Store.of(settings.store)) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client,
    ):
        yield client


async def test_the_gateway_serves_a_bucket(payloads: Payloads) -> None:
    """Files whole and in parts, payloads by ticket; a fetch is noted in the bucket, where the controller reads it."""
    url = payloads.fetching.url(NAME)
    await payloads.store(Payload(NAME, url, DATA), namespace="default")
    payloads.objects.put(f"sha256/{DIGEST}", CONTENT)
    async with gateway("s3://payloads/slipway") as client:
        answers = []
        for path, headers in (
            (f"/sha256/{DIGEST}", {}),
            (f"/sha256/{DIGEST}", {"Range": "bytes=262100-"}),
            (f"/sha256/{'0' * 64}", {}),
            (f"/payload/{NAME}", BEARER),
            (f"/payload/{NAME}", {"Authorization": "Bearer other"}),
        ):
            async with client.get(path, headers=headers) as answer:
                answers.append((answer.status, await answer.read()))
    assert [status for status, _ in answers] == [200, 206, 404, 200, 404]
    assert [body for status, body in answers if status < 300] == [CONTENT, CONTENT[262100:], DATA]
    assert await payloads.fetches(url, namespace="default") == ["127.0.0.1"]


@pytest.mark.parametrize("wrong", ["credential", "server"])
async def test_a_bucket_that_refuses_is_no_absent_payload(
    payloads: Payloads, server: ObjectStore, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    """A wrong key, or a server that is away, is 503, so that machines try again; nothing of it is in the answer."""
    await payloads.store(Payload(NAME, payloads.fetching.url(NAME), DATA), namespace="default")
    if wrong == "credential":
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    monkeypatch.setenv("AWS_MAX_RETRIES", "0")
    async with gateway("s3://payloads/slipway") as client:
        if wrong == "server":
            server.stop()
        async with client.get(f"/payload/{NAME}", headers=BEARER) as answer:
            assert (answer.status, await answer.read()) == (503, b"the store does not answer\n")


async def test_leftovers_of_a_bucket_are_counted(payloads: Payloads, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a list, whether or not the store knows lifecycle rules; a credential that cannot list counts none."""
    await payloads.store(Payload(NAME, payloads.fetching.url(NAME), DATA), namespace="default")
    later = time.time() + (LEFTOVER_DAYS + 1) * 86_400
    store = Store.of("s3://payloads/slipway")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    monkeypatch.setenv("AWS_MAX_RETRIES", "0")
    refused = Store.of("s3://payloads/slipway")
    try:
        assert await warn_of_leftovers(store) == 0
        assert await warn_of_leftovers(store, lambda: later) == 1
        assert await warn_of_leftovers(refused, lambda: later) == 0
    finally:
        store.close()
        refused.close()
