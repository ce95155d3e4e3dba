"""The HTTPS server that the API server asks when an opted-in KubeadmConfig is created. Every replica runs one.

Anybody who reaches the port may connect, and a review is read before it is known whose it is. So the server has a
thread and an event loop of its own, beside that of the work; a connection serves one review within ten seconds, which
is as long as an API server waits; and after a review the thread rests as long as the review took.
"""

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Collection, Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from aiohttp import web

from slipway.contract.bounded_json import read_json
from slipway.controller.opt_in.admission import NotAReviewError, reviewed
from slipway.kubernetes_api.resources import Json
from slipway.rpc.connections import Bounded, Bounds
from slipway.rpc.renewed_context import RenewedContext

PATH = "/opt-in"
_MOST_BYTES = 8 * 2**20
"""An object has at most 1.5 MiB, and a review holds it once; escapes of JSON make it longer."""

_LARGE = 128 * 2**10
"""A review of more bytes waits for its turn before it is read: together they would take all memory."""

_LARGE_AT_ONCE = 4
LARGE_SECONDS = 3.0
"""How long a large review may take to arrive, once it has its place: an API server is near, and waits for ten."""

_MOST_VALUES = 200_000
"""The largest KubeadmConfig has some ten thousand. Of 8 MiB of small values 300 MiB of objects would be made."""

_HANDSHAKE_SECONDS = 3.0


@dataclass(slots=True)
class _Listening:
    runner: web.AppRunner
    server: asyncio.Server
    connections: Bounded


class Webhook:
    """Answers reviews at an address."""

    def __init__(
        self,
        *,
        host: str,
        port: int,
        certificates: Path,
        bounds: Bounds | None = None,
        namespaces: Collection[str] = (),
    ) -> None:
        """Listen at an address with the certificate of a directory (tls.crt, tls.key), which may be renewed.

        With `namespaces` no object of another one is taken.
        """
        self._namespaces = namespaces
        self._host = host
        self._port = port
        self._certificates = RenewedContext(certificates)
        self._bounds = bounds or Bounds()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="slipway-webhook", daemon=True)
        self._listening: _Listening | None = None
        self._turn = asyncio.Lock()
        self._large = asyncio.Semaphore(_LARGE_AT_ONCE)
        self._large_of_host: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def start(self) -> None:
        """Listen from now on.

        Raises:
            OSError: the address cannot be listened at, or there is no certificate.
        """
        self._thread.start()
        try:
            self._listening = await self._there(self._listen())
        except OSError:
            await self._end()
            raise

    @property
    def url(self) -> str:
        """Where it listens, once it does: of use where the port was the system's to choose."""
        if self._listening is None:
            raise RuntimeError("it does not listen yet")
        host, port, *_ = self._listening.server.sockets[0].getsockname()
        return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"

    async def stop(self) -> None:
        """Answer what was asked, and listen no longer."""
        if self._listening is not None:
            listening, self._listening = self._listening, None
            await self._there(_close(listening))
            await self._end()

    async def _there(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do work on the webhook's own loop."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()

    async def _listen(self) -> _Listening:
        application = web.Application(client_max_size=_MOST_BYTES)
        application.router.add_post(PATH, self._review)
        runner = web.AppRunner(application, access_log=None, handle_signals=False)
        await runner.setup()
        if runner.server is None:
            raise RuntimeError("the runner was set up and has no server")
        connections = Bounded(runner.server, self._bounds)
        try:
            server = await asyncio.get_running_loop().create_server(
                connections,
                self._host or None,
                self._port,
                ssl=self._certificates.context(),
                ssl_handshake_timeout=min(self._bounds.seconds, _HANDSHAKE_SECONDS),
                ssl_shutdown_timeout=1.0,
            )
        except OSError:
            await runner.cleanup()
            raise
        return _Listening(runner, server, connections)

    async def _review(self, request: web.Request) -> web.Response:
        is_large = request.content_length is None or request.content_length > _LARGE
        async with self._place(request) if is_large else contextlib.nullcontext():
            try:
                async with asyncio.timeout(LARGE_SECONDS if is_large else None):
                    body = await request.read()
            except ConnectionError:
                raise web.HTTPBadRequest(text="the request ended before its body") from None
            except TimeoutError:
                raise web.HTTPRequestTimeout(text="the review did not arrive in time") from None
            answer = await self._answer(body)
        if answer is None:
            raise web.HTTPBadRequest(text="no AdmissionReview of version v1")
        response = web.json_response(answer)
        response.force_close()
        return response

    @contextlib.asynccontextmanager
    async def _place(self, request: web.Request) -> AsyncIterator[None]:
        """Wait for a place for a large review: one host has one, so that it does not keep the others waiting."""
        host = self._large_of_host.setdefault(request.remote or "", asyncio.Lock())
        async with host, self._large:
            yield

    async def _answer(self, body: bytes) -> Json | None:
        async with self._turn:
            start = time.thread_time()
            try:
                answer = reviewed(read_json(body, most_values=_MOST_VALUES), self._namespaces)
            except (NotAReviewError, ValueError, RecursionError):
                answer = None
            # Reading holds the interpreter's lock. Half of the time stays for the controller's own work.
            await asyncio.sleep(time.thread_time() - start)
        return answer


async def _close(listening: _Listening) -> None:
    listening.server.close()
    await listening.runner.cleanup()
    # A farewell by TLS would wait for the other side.
    listening.connections.abort()
    # Connections whose TLS handshake has not ended are known to their tasks only.
    handshakes = asyncio.all_tasks() - {asyncio.current_task()}
    for handshake in handshakes:
        handshake.cancel()
    await asyncio.gather(*handshakes, return_exceptions=True)
    await asyncio.sleep(0)
