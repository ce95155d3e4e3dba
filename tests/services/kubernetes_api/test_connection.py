"""What a server may answer: nothing of it takes the process's memory, its credentials, or its loop."""

import asyncio
import gzip
import json
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.configuration import ApiConfiguration
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.destinations import Destinations
from slipway.kubernetes_api.failures import Invalid, Unreachable
from slipway.kubernetes_api.kubeconfig import ClusterAccess
from slipway.kubernetes_api.resources import SECRETS, TOKEN_REVIEWS, Json

LIMIT = 100_000
WHOLE = {"metadata": {"name": "a", "uid": "u", "resourceVersion": "1"}}


@asynccontextmanager
async def _answering(answer: bytes | Callable[[], bytes], seen: list[bytes] | None = None) -> AsyncIterator[str]:
    """A server with one answer for all; gives its address."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if seen is not None:
            seen.append(head)
        writer.write(answer if isinstance(answer, bytes) else answer())
        try:
            await writer.drain()
        except ConnectionError:
            return
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


@asynccontextmanager
async def _api(address: str) -> AsyncIterator[Api]:
    connection = Connection(ApiConfiguration(host=address), seconds=20.0, most_bytes=LIMIT)
    try:
        yield Api(connection)
    finally:
        await connection.close()


def _http(body: bytes, *, status: str = "200 OK", head: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\n{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body


@pytest.mark.parametrize("status", ["301 A", "302 B", "303 C", "307 D", "308 E", "300 F"])
async def test_a_redirect_is_not_followed(status: str) -> None:
    """Neither body nor credentials go to the address that a server names."""
    seen: list[bytes] = []
    async with _answering(_http(json.dumps(WHOLE).encode()), seen) as other:
        moved = _http(json.dumps(WHOLE).encode(), status=status, head=f"location: {other}/x\r\n")
        async with _answering(moved) as address, _api(address) as api:
            for call in (api.get(SECRETS, "n", "a"), api.create(SECRETS, "n", WHOLE), _first(api)):
                with pytest.raises(Unreachable):
                    await call
    assert seen == []


async def _first(api: Api) -> Json:
    return await anext(aiter(api.watch(SECRETS, "n", version="1", seconds=5)))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (json.dumps({**WHOLE, "data": "x" * LIMIT}).encode(), "longer than it may be"),
        (b"<html>", "no JSON"),
        (b"\xff", "no text"),
        (b"[]", "a list"),
        (b"1", "a number"),
        (b"{}", "no metadata"),
        (b'{"metadata": []}', "metadata of another shape"),
        (b'{"metadata": {"name": "a", "uid": 1, "resourceVersion": 1}}', "an identity of another shape"),
        (b"[" * 50_000, "nested without end"),
    ],
)
async def test_an_answer_of_another_shape_is_a_failed_call(body: bytes, reason: str) -> None:
    """Whoever calls sees a failure of the adapter, which is worth a repeat, and no other."""
    async with _answering(_http(body)) as address, _api(address) as api:
        with pytest.raises(Unreachable):
            await api.get(SECRETS, "n", "a")
        with pytest.raises(Unreachable):
            await api.list(SECRETS)
        if len(body) < LIMIT:
            with pytest.raises(Unreachable):
                await _first(api)
    assert reason


@pytest.mark.parametrize("body", [b"[" * 50_000, b"[]", b'{"details": {"causes": 1}}', b'{"details": []}', b"\xff"])
async def test_a_refusal_of_another_shape_is_still_a_refusal(body: bytes) -> None:
    """The status counts where the body cannot be read."""
    async with _answering(_http(body, status="422 X")) as address, _api(address) as api:
        with pytest.raises(Invalid):
            await api.create(SECRETS, "n", WHOLE)


async def test_a_line_of_a_watch_has_an_end() -> None:
    """A line longer than any event is not collected."""
    for size, fits in ((2**20, True), (6 * 2**20, False)):
        event = {"type": "ADDED", "object": {**WHOLE, "data": {"value": "x" * size}}}
        async with _answering(_http(json.dumps(event).encode() + b"\n")) as address, _api(address) as api:
            if fits:
                assert await _first(api) == event
            else:
                with pytest.raises(Unreachable):
                    await _first(api)


async def test_a_workload_clusters_answer_is_never_expanded() -> None:
    """It is asked for plain answers; one that is compressed all the same costs its own bytes, not a thousand times."""
    body = gzip.compress(b'{"metadata": {"name": "' + b"a" * (64 * 2**20) + b'"}}')
    seen: list[bytes] = []
    async with _answering(_http(body, head="content-encoding: gzip\r\n"), seen) as address:
        connection = Connection.to(ClusterAccess(server=address), Destinations(["127.0.0.0/8"]))
        tracemalloc.start()
        try:
            with pytest.raises(Unreachable):
                await Api(connection).get(SECRETS, "n", "a")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            await connection.close()
    assert b"accept-encoding: identity" in seen[0].lower()
    assert len(body) < 2**20
    assert peak < 8 * 2**20


async def test_a_workload_clusters_answer_has_few_values() -> None:
    """Its bytes are bounded, and what is made of them: small values become objects of forty times their size."""
    body = b'{"metadata": {"name": "a"}, "data": [' + b'{"":1},' * 250_000 + b"1]}"
    async with _answering(_http(body)) as address:
        connection = Connection.to(ClusterAccess(server=address), Destinations(["127.0.0.0/8"]))
        tracemalloc.start()
        try:
            with pytest.raises(Unreachable):
                await Api(connection).get(SECRETS, "n", "a")
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
            await connection.close()
    assert len(body) < 2 * 2**20
    assert peak < 12 * 2**20


async def test_what_is_whole_is_given() -> None:
    """An object is an object; a review, which is not stored, has no identity."""
    async with _answering(_http(json.dumps(WHOLE).encode())) as address, _api(address) as api:
        assert await api.get(SECRETS, "n", "a") == WHOLE
    async with _answering(_http(b'{"metadata": {}, "status": {}}', status="201 C")) as address, _api(address) as api:
        assert await api.create(TOKEN_REVIEWS, "", {}) == {"metadata": {}, "status": {}}


@pytest.mark.parametrize("group", ["../api/v1/secrets", "a?b", "a#b", "%2e%2e", "a/v1/b"])
async def test_a_group_that_leads_elsewhere_is_refused(group: str) -> None:
    """Its name comes from a reference that a tenant may write; nothing is asked."""
    async with _api("http://127.0.0.1:1") as api:
        with pytest.raises(Invalid):
            await api.discover(f"/apis/{group}/v1")
        assert api.connection.calls == {}


async def test_a_call_takes_no_thread() -> None:
    """Where others hold all threads of the process, calls go on: the lease of the leader is renewed by such."""
    free = threading.Event()
    async with _answering(_http(json.dumps(WHOLE).encode())) as address, _api(address) as api:
        with ThreadPoolExecutor(1) as only:
            asyncio.get_running_loop().set_default_executor(only)
            only.submit(free.wait)
            try:
                async with asyncio.timeout(10):
                    assert await api.get(SECRETS, "n", "a") == WHOLE
            finally:
                free.set()


@pytest.mark.parametrize("never", ["", "127.0.0.1", "localhost, 127.0.0.0/8", "10.0.0.0/8,x/y"])
async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch, never: str) -> None:
    """As by every other client of the API, unless NO_PROXY names the host, or a network that it is in."""
    own = json.dumps({"metadata": {**WHOLE["metadata"], "name": "own"}}).encode()
    by_proxy = json.dumps({"metadata": {**WHOLE["metadata"], "name": "by-proxy"}}).encode()
    async with _answering(_http(own)) as address, _answering(_http(by_proxy)) as proxy:
        monkeypatch.setenv("http_proxy", proxy.removeprefix("http://") if never.startswith("10.") else proxy)
        monkeypatch.setenv("no_proxy", never)
        async with _api(address) as api:
            found = await api.get(SECRETS, "n", "a")
    assert found["metadata"]["name"] == ("own" if "127." in never else "by-proxy")


async def test_no_password_comes_from_a_netrc_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a person keeps there for a host is nothing for an API server on it."""
    file = tmp_path / "netrc"
    file.write_text("machine 127.0.0.1 login a password hunter2\n")
    file.chmod(0o600)
    monkeypatch.setenv("NETRC", str(file))
    seen: list[bytes] = []
    async with _answering(_http(json.dumps(WHOLE).encode()), seen) as address, _api(address) as api:
        await api.get(SECRETS, "n", "a")
    assert seen
    assert b"authorization" not in seen[0].lower()


async def test_half_an_answer_is_left_behind() -> None:
    """When its time is over the connection is closed: the server sees that nobody listens any more."""
    left = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
        await reader.read()
        left.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    connection = Connection(ApiConfiguration(host=host), seconds=1.0, most_bytes=LIMIT)
    try:
        with pytest.raises(Unreachable):
            await Api(connection).get(SECRETS, "n", "a")
        async with asyncio.timeout(10):
            await left.wait()
    finally:
        await connection.close()
        server.close()
