"""No peer takes more of the gateway than its share; what the settings cannot mean is refused."""

import asyncio
import ssl
from pathlib import Path

import aiohttp
import click
import pytest

from slipway.node_gateway.rates import Rates, peer_of
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import Store
from tests.services.certificates import Authority
from tests.services.node_gateway.served import CONTENT, DIGEST, gateway

BLOB = f"/sha256/{DIGEST}"


class Clock:
    """A clock that stands still until it is moved."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_peer_waits_for_what_it_took_too_much() -> None:
    """One second's worth is there at once; beyond it each unit costs its time, and a pause pays for it."""
    clock = Clock()
    rates = Rates(100, clock)
    assert [rates.reserve("a", 100), rates.reserve("a", 50), rates.reserve("a", 10)] == [0.0, 0.0, 0.5]
    assert rates.reserve("b", 100) == 0.0
    clock.now += 1.6
    assert rates.reserve("a", 100) == 0.0
    assert Rates(0, clock).reserve("a", 1e12) == 0.0


def test_who_would_wait_too_long_is_refused() -> None:
    """Within the patience a request is let through; what is refused costs nothing."""
    clock = Clock()
    rates = Rates(1, clock)
    assert [rates.is_exceeded("a", 1, patience=2.0) for _ in range(6)] == [False] * 4 + [True] * 2
    clock.now += 1
    assert [rates.is_exceeded("a", 1, patience=2.0) for _ in range(2)] == [False, True]
    assert not Rates(0, clock).is_exceeded("a", 1, patience=0)


def test_peers_are_forgotten_when_they_owe_nothing() -> None:
    """Many peers that came once cost no memory later."""
    clock = Clock()
    rates = Rates(10, clock)
    for number in range(1000):
        rates.reserve(str(number), 1)
    clock.now += 10
    rates.reserve("last", 1)
    assert list(rates._due) == ["last"]


@pytest.mark.parametrize(
    ("address", "peer"),
    [("192.0.2.7", "192.0.2.7"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3::9", "2001:db8:1:2::/64"),
     ("fe80::1%eth0", "fe80::/64"), (None, "")],
)  # fmt: skip
def test_a_peer_is_who_owns_an_address(address: str | None, peer: str) -> None:
    """Who has an IPv6 network has all its addresses."""
    assert peer_of(address) == peer


async def test_bytes_of_a_peer_are_limited(tmp_path: Path) -> None:
    """Two downloads at once have to share: together they take as long as one after the other."""
    loop = asyncio.get_running_loop()
    async with gateway(tmp_path, peer_bytes_per_second=len(CONTENT)) as client:
        started = loop.time()

        async def download() -> bytes:
            async with client.get(BLOB) as answer:
                return await answer.read()

        assert await asyncio.gather(*(download() for _ in range(3))) == [CONTENT] * 3
        # Two of three files are within two seconds: one for a second, one at once; the last has to wait.
        assert loop.time() - started >= 0.7


async def test_requests_of_a_peer_are_limited(tmp_path: Path) -> None:
    """Who asks too often is answered 503 with a time, which curl and Ignition follow."""
    async with gateway(tmp_path, peer_requests_per_second=0.5) as client:
        statuses = []
        for _ in range(8):
            async with client.head(BLOB) as answer:
                statuses.append((answer.status, answer.headers.get("Retry-After")))
        assert statuses[0] == (200, None)
        assert statuses[-1] == (503, "5")
        async with client.get("/healthz") as answer:
            assert answer.status == 200


async def test_connections_of_a_peer_are_limited(tmp_path: Path) -> None:
    """One more than allowed is closed without an answer; when another has ended, the next is served."""
    async with gateway(tmp_path, peer_connections=1) as client:
        first = await client.get("/healthz")
        async with aiohttp.ClientSession(client._base_url) as other:
            with pytest.raises(aiohttp.ClientError):
                await other.get("/healthz")
        first.close()
        await client.close()
        async with aiohttp.ClientSession(client._base_url) as third:
            for _ in range(100):
                try:
                    async with third.get("/healthz") as answer:
                        assert answer.status == 200
                        break
                except aiohttp.ClientError:
                    await asyncio.sleep(0.01)
            else:
                pytest.fail("the connection was never given back")


async def test_it_serves_by_tls(tmp_path: Path) -> None:
    """A machine needs the authority only, and no certificate of its own."""
    authority = Authority()
    certificates = authority.fill(tmp_path / "certs")
    context = ssl.create_default_context(cadata=authority.certificate.decode())
    async with gateway(tmp_path / "store", tls_cert_dir=certificates) as client:
        async with client.get(BLOB, ssl=context) as answer:
            assert await answer.read() == CONTENT
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await client.get(BLOB)


@pytest.mark.parametrize("store", ["/srv", "file://host/srv", "http://example.com/", "s3:// a", ""])
def test_a_store_that_cannot_be_meant_is_refused(store: str) -> None:
    """Only folders and the three object stores are stores."""
    with pytest.raises(click.UsageError, match="--store"):
        GatewaySettings.load({"listen_address": "127.0.0.1:0", "insecure": True}, store=store)


@pytest.mark.parametrize("url", ["s3://bucket/prefix", "gs://bucket", "az://container"])
def test_object_stores_are_opened_without_a_call(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The URL is enough; credentials are looked for in the environment."""
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    Store.of(url).close()
