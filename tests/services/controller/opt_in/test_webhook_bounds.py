"""The webhook's port under attack: the controller's loop goes on, and a review is answered beside what never ends."""

import asyncio
import contextlib
import json
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, ExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from slipway.controller.opt_in.webhook import Webhook
from slipway.rpc.connections import Bounds
from tests.services.certificates import Authority
from tests.services.controller.opt_in.test_webhook import REVIEW, Served

API_SERVER_SECONDS = 10
BODY = json.dumps(REVIEW).encode()
HEAD = b"POST /opt-in HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
Serving = Callable[..., AbstractAsyncContextManager[Served]]


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """Run a webhook with bounds."""

    @asynccontextmanager
    async def run(**bounds: float) -> AsyncIterator[Served]:
        authority = Authority()
        given = Bounds(**bounds)  # type: ignore[arg-type]  # whole numbers where it asks for them
        webhook = Webhook(host="127.0.0.1", port=0, certificates=authority.fill(tmp_path), bounds=given)
        await webhook.start()
        yield Served(webhook, authority, tmp_path)
        await webhook.stop()

    return run


def _connected(served: Served, host: str = "127.0.0.1") -> ssl.SSLSocket:
    context = ssl.create_default_context(cadata=served.authority.certificate.decode())
    port = urlsplit(served.webhook.url).port or 0
    line = socket.create_connection(("127.0.0.1", port), timeout=20, source_address=(host, 0))
    return context.wrap_socket(line, server_hostname="127.0.0.1")


def _is_closed(line: ssl.SSLSocket) -> bool:
    try:
        return line.recv(1) == b""
    except OSError:
        return True


async def test_a_review_needs_nothing_of_the_work_s_loop(serving: Serving) -> None:
    """The question is asked by a thread that stands still until it has the answer: this loop answers nothing now."""
    async with serving() as served:
        status, text, _ = served._ask(BODY, "/opt-in", "127.0.0.1")
        assert (status, json.loads(text)["response"]["allowed"]) == (200, True)


@pytest.mark.parametrize(
    ("sent", "reason"),
    [
        (b"", "nothing after the greeting of TLS"),
        (HEAD, "half of a header"),
        (HEAD + b"Content-Length: 8000000\r\n\r\n{", "a large body that does not come"),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", "a body without a length"),
    ],
)
async def test_what_never_ends_stops_no_review(serving: Serving, sent: bytes, reason: str) -> None:
    """Eight connections that stay as they are: the next review is answered at once."""
    async with serving() as served:
        with ExitStack() as held:
            for _ in range(8):
                held.enter_context(_connected(served)).sendall(sent)
            assert (await served.ask(BODY))[0] == 200, reason


async def test_one_host_keeps_no_other_host_s_large_review_waiting(serving: Serving) -> None:
    """As many large bodies as there are places do not come: they are all of one host, which has one place."""
    padded = json.dumps({**REVIEW, "padding": "x" * 200_000}).encode()
    async with serving() as served:
        with ExitStack() as held:
            for _ in range(8):
                held.enter_context(_connected(served, "127.0.0.2")).sendall(HEAD + b"Content-Length: 8000000\r\n\r\n{")
            start = time.monotonic()
            assert (await served.ask(padded))[0] == 200
            assert time.monotonic() - start < API_SERVER_SECONDS


async def test_a_large_review_that_does_not_come_loses_its_place(serving: Serving) -> None:
    """The place is of use to others again before the time of the connection is over."""
    async with serving() as served:
        with contextlib.closing(_connected(served)) as line:
            line.sendall(HEAD + b"Content-Length: 8000000\r\n\r\n{")
            assert b" 408 " in await asyncio.to_thread(line.recv, 64)


@pytest.mark.parametrize("sent", [b"", HEAD, HEAD + b"Content-Length: 100\r\n\r\n{"])
async def test_a_connection_has_its_time(serving: Serving, sent: bytes) -> None:
    """The server ends what is not done in time."""
    async with serving(seconds=0.5) as served:
        with contextlib.closing(_connected(served)) as line:
            line.sendall(sent)
            assert _is_closed(line)


async def test_a_connection_serves_one_review(serving: Serving) -> None:
    """After an answer the connection ends, so that its time bounds all of it."""
    async with serving() as served:
        with contextlib.closing(_connected(served)) as line:
            line.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY)
            answer = b""
            while chunk := line.recv(4096):
                answer += chunk
        assert answer.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("bounds", [{"of_host": 2}, {"total": 2}])
async def test_connections_are_bounded(serving: Serving, bounds: dict[str, int]) -> None:
    """One more than allowed, of a host or of all, is ended; each that goes makes room."""
    async with serving(**bounds) as served:
        with contextlib.closing(_connected(served)) as first, contextlib.closing(_connected(served)) as second:
            for line in (first, second):
                line.sendall(HEAD)
            with contextlib.closing(_connected(served)) as surplus:
                assert _is_closed(surplus)
            first.sendall(b"Connection: close\r\nContent-Length: 0\r\n\r\n")
            while first.recv(4096):
                pass
        with contextlib.closing(_connected(served)) as line:
            line.sendall(HEAD + b"Content-Length: 0\r\n\r\n")
            assert line.recv(4096).startswith(b"HTTP/1.1 400 ")
