"""A kubeconfig in somebody's namespace makes the controller call no address that only the controller can reach."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.destinations import CheckedResolver, Destinations
from slipway.kubernetes_api.failures import Unreachable
from slipway.kubernetes_api.kubeconfig import ClusterAccess, KubeconfigRefused
from tests.services.certificates import Authority


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1", "169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1",
        "10.96.0.1", "localhost", "a.localhost", "kubernetes", "registry", "kubernetes.default.svc", "a.b.svc",
        "64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1",
        "2001:0:7f00:1::1", "::ffff:0:7f00:1",
        "::7f00:1", "fd00:ec2::254", "fd00:c1::a9fe:a9fe", "fd00:42::42", "fd20:ce::254", "100.100.100.200",
        "168.63.129.16", "192.0.0.192", "::ffff:168.63.129.16", "a.b.svc.example.com", "a.b.svc.cluster.local",
        "LOCALHOST.", "metadata.local", "127.1", "127.0.0.01", "0177.0.0.1", "2130706433", "127.0.0.0x1",
        "169.254.43518", "127.0.0.1.", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021.x",
    ],
)  # fmt: skip
def test_what_only_the_controller_reaches_is_refused(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own machine, the link's addresses, and the management cluster; the text holds nothing of the kubeconfig."""
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1")
    with pytest.raises(KubeconfigRefused) as refused:
        Destinations().check(host)
    assert host.strip(".").lower() not in str(refused.value).lower().replace("localhost", "")


@pytest.mark.parametrize(
    "host", ["10.0.0.7", "192.168.1.1", "203.0.113.7", "2001:db8::7", "64:ff9b::a00:7", "fd00:1::7", "a.x"]
)
def test_other_servers_are_called(host: str) -> None:
    """Workload clusters are in private networks as well as in public ones."""
    Destinations().check(host)


@pytest.mark.parametrize(
    ("entry", "host", "other"),
    [
        ("127.0.0.0/8", "127.0.0.1", "169.254.1.1"),
        ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
        (".svc", "a.b.svc", "localhost"),
        ("tenant.hosted.svc", "tenant.hosted.svc", "other.hosted.svc"),
        ("::1", "::1", "127.0.0.1"),
    ],
)
def test_the_operator_allows_more(entry: str, host: str, other: str) -> None:
    """A network, an address, a name or an ending; and nothing beside it."""
    allowed = Destinations([entry])
    allowed.check(host)
    with pytest.raises(KubeconfigRefused):
        allowed.check(other)


@pytest.mark.parametrize("entry", ["", "10.0.0.0/99", "a b", "x/24", "ü.example.com"])
def test_an_entry_that_means_nothing_is_refused(entry: str) -> None:
    """The server does not start with half a list."""
    with pytest.raises(ValueError, match=r"must be|network|prefix|netmask|permitted"):
        Destinations([entry])


class _System(aiohttp.ThreadedResolver):
    """Answers for any name, and keeps what it was asked."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.asked: list[str] = []

    async def resolve(self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET) -> Any:
        self.asked.append(host)
        return [
            {"hostname": host, "host": address, "port": port, "family": family, "proto": 0, "flags": 0}
            for address in self.addresses
        ]


async def test_a_name_that_means_an_address_of_ours_is_not_called() -> None:
    """What a name means is looked at for the very connection; search domains of the pod are kept away."""
    resolver = CheckedResolver(Destinations())
    resolver._system = system = _System("127.0.0.1", "203.0.113.7")
    found = await resolver.resolve("api.example.com", 443)
    assert [one["host"] for one in found] == ["203.0.113.7"]
    assert [one["hostname"] for one in found] == ["api.example.com"]
    assert system.asked == ["api.example.com."]
    resolver._system = _System("169.254.169.254")
    with pytest.raises(OSError, match="may not be called"):
        await resolver.resolve("rebound.example.com", 443)


@pytest.fixture
async def called() -> AsyncIterator[tuple[str, list[str]]]:
    """A server on this machine that notes who calls."""
    calls: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        calls.append(request.path)
        return web.json_response({})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
    yield f"{port}", calls
    await runner.cleanup()


async def test_a_real_connection_asks_the_check(called: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means this machine ends without a call; with the operator's word the same name is called."""
    port, calls = called

    async def here(_self: object, host: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        return [{"hostname": host, "host": "127.0.0.1", "port": port, "family": socket.AF_INET, "proto": 0, "flags": 0}]

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", here)
    access = ClusterAccess(server=f"http://api.example.com:{port}")
    refused = Connection.to(access, Destinations())
    with pytest.raises(Unreachable):
        await refused.call("GET", "/version", kind="Version")
    await refused.close()
    assert calls == []
    allowed = Connection.to(access, Destinations(["127.0.0.0/8"]))
    await allowed.call("GET", "/version", kind="Version")
    await allowed.close()
    assert calls == ["/version"]


@pytest.fixture
async def proxy(tmp_path: Path) -> AsyncIterator[tuple[str, list[tuple[str, str | None]]]]:
    """A proxy that notes what it is asked to connect to, and answers itself as an API server named api.example.com."""
    authority = Authority()
    folder = authority.fill(tmp_path, hosts=["api.example.com", "tenant.hosted.svc"])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    heard: list[tuple[str, str | None]] = []
    context.sni_callback = lambda _socket, name, _context: heard.append(("TLS", name))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        heard.append(("CONNECT", head.split()[1]))
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        await writer.drain()
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            await writer.start_tls(context)
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            heard.append(("HTTP", head.partition("\nhost: ")[2].split()[0]))
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heard
    server.close()


MEANT = {"api.example.com.": "203.0.113.7", "rebound.example.com.": "169.254.169.254", "tenant.hosted.svc": "10.9.9.9"}


@pytest.mark.parametrize(
    ("host", "allowed", "target", "reason"),
    [
        ("api.example.com", [], "203.0.113.7:6443", "its address is checked, and the proxy is given that"),
        ("rebound.example.com", [], "", "a name that means a metadata service"),
        ("tenant.hosted.svc", [".svc"], "tenant.hosted.svc:6443", "the operator allows the name, whatever it means"),
        ("127.0.0.1", ["127.0.0.0/8"], "127.0.0.1:6443", "an address that the operator allows"),
    ],
)
async def test_a_proxy_is_given_an_address_that_was_checked(  # noqa: PLR0913, PLR0917  # a table and three fixtures
    host: str,
    allowed: list[str],
    target: str,
    reason: str,
    proxy: tuple[str, list[tuple[str, str | None]]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It would find the addresses of a name by itself; the certificate is checked for the name all the same."""

    async def meant(_self: object, name: str, port: int = 0, family: Any = socket.AF_INET) -> Any:
        return [{"hostname": name, "host": MEANT[name], "port": port, "family": family, "proto": 0, "flags": 0}]

    monkeypatch.setattr(aiohttp.ThreadedResolver, "resolve", meant)
    monkeypatch.setenv("https_proxy", proxy[0])
    monkeypatch.setenv("no_proxy", "")
    access = ClusterAccess(server=f"https://{host}:6443", authority=(tmp_path / "ca.crt").read_text())
    connection = Connection.to(access, Destinations(allowed))
    try:
        if target:
            assert await connection.call("GET", "/version", kind="Version") == {}
        else:
            with pytest.raises(Unreachable):
                await connection.call("GET", "/version", kind="Version")
    finally:
        await connection.close()
    name = None if host[0].isdigit() else host
    expected = [("CONNECT", target), ("TLS", name), ("HTTP", f"{host}:6443")] if target else []
    assert proxy[1] == expected, reason


def test_its_own_pod_and_the_services_beside_it_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kubeconfig could reach the controller's own ports by its pod's address, and what trusts its namespace."""
    monkeypatch.setenv("REPORTS_SERVICE_HOST", "10.96.7.7")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: [(0, 0, 0, "", ("10.244.1.5", 0))])
    destinations = Destinations()
    for host in ("10.96.7.7", "10.244.1.5"):
        with pytest.raises(KubeconfigRefused):
            destinations.check(host)
    destinations.check("10.244.1.6")
    Destinations(["10.244.1.0/24"]).check("10.244.1.5")
