"""What a hostile machine sends to the gateway: no file but a named one, no secret, and no place of others."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from slipway.node_gateway.http_server import http_server
from slipway.node_gateway.settings import GatewaySettings
from tests.services.node_gateway.served import CONTENT, DIGEST, PAYLOAD, TICKET, gateway

HOST = b"Host: x\r\nConnection: close\r\n"
BLOB = f"GET /sha256/{DIGEST} HTTP/1.1\r\n".encode()
PAYLOAD_OF = f"GET /payload/{PAYLOAD} HTTP/1.1\r\n".encode()


async def _sent(port: int, data: bytes) -> tuple[bytes, bytes]:
    """Send bytes as they are; give the head and the body of what comes until the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(data)
        try:
            head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        except ConnectionResetError:
            return b"", b""
        return head, body
    finally:
        writer.close()


async def _answer(folder: Path, data: bytes, **settings: Any) -> tuple[bytes, bytes]:
    async with gateway(folder, **settings) as client:
        assert client._base_url is not None
        return await _sent(client._base_url.port or 0, data)


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "two lengths are two requests for a proxy"),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n", "which of them counts"),
        (b"Content-Length: +5\r\n", "no number"),
        (b"Transfer-Encoding: xchunked\r\n", "no encoding that is known"),
        (b"Transfer-Encoding : chunked\r\n", "a blank before the colon"),
        (b"X-A: b\r\n folded\r\n", "a line that is folded"),
        (b"X-A: a\x00b\r\n", "a byte of zero"),
        (b"X-A: " + b"a" * 100_000 + b"\r\n", "a header without end"),
        (b"".join(b"X-%d: a\r\n" % number for number in range(20_000)), "headers without end"),
    ],
)
async def test_a_head_with_two_meanings_is_refused(tmp_path: Path, headers: bytes, reason: str) -> None:
    """No file is served for it, and the connection ends."""
    head, body = await _answer(tmp_path, BLOB + HOST + headers + b"\r\n0\r\n\r\n")
    assert CONTENT[:64] not in body, reason
    assert not head or head.split()[1] == b"400", reason


@pytest.mark.parametrize(
    "path",
    [
        "/sha256/../secret", "/sha256/%2e%2e/secret", "/sha256/..%2fsecret", "/sha256/%2e%2e%2fsecret",
        f"/sha256/{DIGEST}%0a", f"/sha256/{DIGEST}%00", f"/sha256/{DIGEST}/", f"/sha256/{DIGEST};a",
        f"/sha256/{DIGEST.upper()}", f"/sha256/{'%D9%A3' * 64}", f"//sha256/{DIGEST}", f"/sha256/../payload/{PAYLOAD}",
        "http://other.example/secret", "*",
    ],
)  # fmt: skip
async def test_a_path_leads_nowhere_else(tmp_path: Path, path: str) -> None:
    """Neither out of the folder, nor to a file by another spelling of its digest."""
    head, body = await _answer(tmp_path, f"GET {path} HTTP/1.1\r\n".encode() + HOST + b"\r\n")
    assert head.split()[1] in (b"400", b"404")
    assert body != b"no"
    assert CONTENT[:64] not in body


@pytest.mark.parametrize(
    "authorization",
    [
        b"Bearer", b"Bearer ", TICKET.encode(), b"Basic " + TICKET.encode(), b"Bearer \xff\xfe",
        b"Bearer " + TICKET.encode() + b", Bearer x", b"Bearer\t" + TICKET.encode(), b"Bearer " + PAYLOAD.encode(),
        b"x\r\nAuthorization: Bearer " + TICKET.encode(),
    ],
)  # fmt: skip
async def test_a_ticket_is_shown_in_one_way(tmp_path: Path, authorization: bytes) -> None:
    """Any other spelling, a name in place of the ticket, or a second header, opens nothing."""
    head, body = await _answer(tmp_path, PAYLOAD_OF + HOST + b"Authorization: " + authorization + b"\r\n\r\n")
    assert head.split()[1] == b"404"
    assert b"#cloud-config" not in body


async def test_a_broken_head_is_not_in_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A ticket beside a byte that no header may have is logged neither by us nor by the library."""
    authorization = b"Authorization: Bearer " + TICKET.encode() + b"\x00\r\n\r\n"
    head, _ = await _answer(tmp_path, PAYLOAD_OF + HOST + authorization)
    assert head.split()[1] == b"400"
    captured = capsys.readouterr()
    assert TICKET not in captured.out + captured.err


@asynccontextmanager
async def _impatient() -> AsyncIterator[int]:
    """Serve with no patience for a connection on which nothing is asked; give the port."""
    settings = GatewaySettings.load({"listen_address": "127.0.0.1:0", "insecure": True}, store="file:///nowhere")
    application = web.Application()
    async with http_server(application, settings.listen_address, None, settings, idle_seconds=0.01) as port:
        yield port


@pytest.mark.parametrize("sent", [b"", b"GET /healthz HTTP/1.1\r\nX-", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET"])
async def test_a_head_that_never_ends_gives_its_place_back(sent: bytes) -> None:
    """Nothing, half a head, or half a second one: the connection ends long before its longest time."""
    async with _impatient() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        await reader.read()  # to the end of the connection
        writer.close()
