"""The HTTP port of the metrics: one answer for each connection, within a time, from one thread.

The server of prometheus_client has a thread for each connection and no time limit, so that idle connections pin
threads until there are no more. Anybody may connect here without a certificate.
"""

import asyncio
import socket
import threading
from collections import Counter

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

SECONDS = 5.0
"""Time of a connection, from its start to the end of its answer."""

MAX_CONNECTIONS = 64
"""Connections at most."""

MAX_CONNECTIONS_OF_HOST = 16
"""Connections of one host at most."""

_MAX_HEAD = 16 * 1024


class MetricsPort:
    """Serves a registry in a thread of its own, from the moment that it is made."""

    def __init__(self, registry: CollectorRegistry, *, host: str, port: int, seconds: float = SECONDS) -> None:
        """Listen.

        Raises:
            OSError: the address cannot be listened on.
        """
        self._registry = registry
        self._seconds = seconds
        self._connected: Counter[str] = Counter()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        # "::" is every address of either family, as it is to gRPC.
        both = host == "::" and socket.has_dualstack_ipv6()
        self._socket = socket.create_server((host, port), family=family, backlog=MAX_CONNECTIONS, dualstack_ipv6=both)
        self.port: int = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._ending = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="slipway-metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving; connections that are open end now."""
        self._loop.call_soon_threadsafe(self._ending.set)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())
        self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connection, sock=self._socket, limit=_MAX_HEAD)
        await self._ending.wait()
        # A connection that was just accepted gets its transport and its task first: the transport of a server that is
        # closed cannot be made, and its socket would stay open (Python 3.11).
        self._loop.remove_reader(self._socket)
        await _rounds()
        server.close()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await _rounds()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = str((writer.get_extra_info("peername") or ("",))[0])
        if self._connected.total() >= MAX_CONNECTIONS or self._connected[host] >= MAX_CONNECTIONS_OF_HOST:
            writer.transport.abort()
            return
        self._connected[host] += 1
        try:
            async with asyncio.timeout(self._seconds):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head.decode("latin-1")))
                await writer.drain()
                writer.close()
                await writer.wait_closed()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            """A client that is slow or gone, or whose request is too long, gets no answer."""
        finally:
            writer.transport.abort()
            self._connected[host] -= 1
            if not self._connected[host]:
                del self._connected[host]

    def _answer(self, head: str) -> bytes:
        first, *lines = head.split("\r\n")
        method, _, rest = first.partition(" ")
        path = rest.partition(" ")[0].partition("?")[0]
        if method not in ("GET", "HEAD"):
            return _message("405 Method Not Allowed", "text/plain", b"")
        if path not in ("/", "/metrics"):
            return _message("404 Not Found", "text/plain", b"")
        headers = dict(line.lower().split(":", 1) for line in lines if ":" in line)
        encode, media_type = choose_encoder(headers.get("accept", "").strip())
        return _message("200 OK", media_type, encode(self._registry), with_body=method == "GET")


async def _rounds() -> None:
    """Let the event loop do what it has begun with connections: four rounds from accepting, or aborting, to its end."""
    for _ in range(4):
        await asyncio.sleep(0)


def _message(status: str, media_type: str, body: bytes, *, with_body: bool = True) -> bytes:
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + (body if with_body else b"")
