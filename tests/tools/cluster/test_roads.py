"""The roads to real machines: the proxy that leads into their network, and the balancer before control planes."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tools.cluster import place
from tools.cluster.fake_infrastructure import balancer, way_in

_HERE = "127.0.0.1"


@contextlib.asynccontextmanager
async def echo(host: str = _HERE, port: int = 0, *, says: bytes = b"") -> AsyncIterator[int]:
    """A server that says something and then gives back one line; its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(says + await reader.readline())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, host, port)
    async with server:
        yield server.sockets[0].getsockname()[1]


@contextlib.asynccontextmanager
async def running(work: asyncio.Task[None]) -> AsyncIterator[None]:
    """Let a server run for the time of the block."""
    try:
        yield
    finally:
        work.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await work


async def said(port: int, words: bytes, *, host: str = _HERE) -> bytes:
    """Everything that a server answers to these words; it may not listen yet."""
    async with asyncio.timeout(10):
        while True:
            try:
                reader, writer = await asyncio.open_connection(host, port)
            except ConnectionRefusedError:
                await asyncio.sleep(0)
                continue
            writer.write(words)
            answer = await reader.read()
            writer.close()
            return answer


async def test_the_proxy_leads_in() -> None:
    """A tunnel carries bytes both ways, and ends when the other side does."""
    ear = socket.create_server((_HERE, 0))
    port = ear.getsockname()[1]
    async with echo(says=b"echo: ") as there, running(asyncio.ensure_future(way_in.serve(ear.detach()))):
        answer = await said(port, f"CONNECT {_HERE}:{there} HTTP/1.1\r\nHost: x\r\n\r\nahoy\n".encode())
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\necho: ahoy\n"


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        ("GET http://127.0.0.1/ HTTP/1.1", b"405"),
        ("GET 127.0.0.1:1 HTTP/1.1", b"405"),
        ("CONNECT nowhere HTTP/1.1", b"405"),
        ("CONNECT 127.0.0.1:http HTTP/1.1", b"405"),
        ("CONNECT :1 HTTP/1.1", b"405"),
        ("CONNECT 127.0.0.1:1 HTTP/1.1", b"502"),
        ("CONNECT 127.0.0.1:99999 HTTP/1.1", b"502"),
        ("CONNECT", b"405"),
    ],
)
async def test_the_proxy_says_why_not(request_line: str, status: bytes) -> None:
    """What is no tunnel is not made one, and nobody at the other end is told apart from that."""
    ear = socket.create_server((_HERE, 0))
    port = ear.getsockname()[1]
    async with running(asyncio.ensure_future(way_in.serve(ear.detach()))):
        answer = await said(port, f"{request_line}\r\n\r\n".encode())
    assert answer.split(b" ")[1] == status


async def test_the_balancer_takes_the_first_that_answers(tmp_path: Path) -> None:
    """A control plane that is not there is passed over; the list is read anew at each connection."""
    listing = tmp_path / "control-planes"
    with place.address() as endpoint, place.address() as gone, place.address() as up, place.address() as later:
        listing.write_text(f"{gone}\n{up}\n", encoding="ascii")
        port = balancer.API_SERVER
        async with (
            echo(up, port, says=b"up "),
            echo(later, port, says=b"later "),
            running(asyncio.ensure_future(balancer.serve(endpoint, port, listing, port))),
        ):
            assert await said(port, b"1\n", host=endpoint) == b"up 1\n"
            listing.write_text(f"{later}\n{up}\n", encoding="ascii")
            assert await said(port, b"2\n", host=endpoint) == b"later 2\n"
            listing.write_text("", encoding="ascii")
            assert await said(port, b"", host=endpoint) == b""
