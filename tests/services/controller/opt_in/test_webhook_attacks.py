"""Attacks on the webhook's port while the controller works: its loop goes on, and an API server gets its answers."""

import asyncio
import http.client
import json
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from slipway.controller.opt_in.webhook import PATH, Webhook
from slipway.rpc.connections import Bounds
from tests.services.certificates import Authority
from tests.services.controller.opt_in import attacker
from tests.services.controller.opt_in.test_webhook import REVIEW

pytestmark = pytest.mark.long

HOSTILE = "127.0.0.9"
BOUNDS = Bounds(total=64, of_host=16, seconds=2.0)
REVIEWS = 5


class Pulse:
    """Beats on the loop of the reconciler, and measures the longest time between two beats."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.last = self.loop.time()
        self.longest = 0.0
        self.handle = self.loop.call_later(0.01, self.beat)

    def beat(self) -> None:
        now = self.loop.time()
        self.longest, self.last = max(self.longest, now - self.last), now
        self.handle = self.loop.call_later(0.01, self.beat)


@asynccontextmanager
async def attacking(attack: str, port: int) -> AsyncIterator[asyncio.StreamReader]:
    """Run an attack, and give what it prints."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, attacker.__file__, attack, str(port), HOSTILE, stdout=asyncio.subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        while await process.stdout.readline() != b"open\n":
            assert process.returncode is None
        yield process.stdout
    finally:
        process.kill()
        await process.wait()


def ask(port: int, certificate: bytes) -> int:
    """Ask as an API server does, by a connection of its own, and give the status."""
    context = ssl.create_default_context(cadata=certificate.decode())
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=10)
    try:
        connection.request("POST", PATH, json.dumps(REVIEW), {"Content-Type": "application/json"})
        response = connection.getresponse()
        assert json.loads(response.read())["response"]["allowed"]
        return response.status
    finally:
        connection.close()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("attack", attacker.ATTACKS)
async def test_an_attack_stops_neither_the_work_nor_the_reviews(attack: str, tmp_path: Path) -> None:
    """Sixty connections of one host; another host's reviews are answered within the ten seconds of an API server.

    The loop of the work never stands still for seconds, as it would while it waited for a client or read a body. The
    server ends connections that stay, or that are too many.
    """
    authority = Authority()
    webhook = Webhook(host="127.0.0.1", port=0, certificates=authority.fill(tmp_path), bounds=BOUNDS)
    await webhook.start()
    port = urlsplit(webhook.url).port or 0
    try:
        async with attacking(attack, port) as printed:
            pulse = Pulse()
            for _ in range(REVIEWS):
                assert await asyncio.to_thread(ask, port, authority.certificate) == 200
            ended = 0
            while ended < attacker.CONNECTIONS:
                ended = int(await printed.readline())
            pulse.handle.cancel()
        assert pulse.longest < 3
    finally:
        await webhook.stop()
