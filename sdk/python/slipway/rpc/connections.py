"""Bounds of the connections of an HTTP server: how many, how many of one host, and for how long."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Bounds:
    """Most connections in total and of one host; seconds that each lives, from the accepted connection to its answer.

    An API server opens a connection for each review, and waits ten seconds for the answer (webhook.yaml).
    """

    total: int = 128
    of_host: int = 32
    seconds: float = 10.0


class Bounded:
    """Makes the protocol of each connection, as asyncio asks for it, and ends connections that break the bounds."""

    def __init__(self, make: Callable[[], asyncio.Protocol], bounds: Bounds) -> None:
        """Bound the connections that ``make`` has protocols for."""
        self._make = make
        self._bounds = bounds
        self._open: dict[asyncio.BaseTransport, str] = {}
        # Each ends with its connection: a timer that still runs would keep all that the closed connection held.
        self._timers: dict[asyncio.BaseTransport, asyncio.TimerHandle] = {}

    def __call__(self) -> asyncio.Protocol:
        """Give the protocol of a new connection."""
        return _Connection(self._make(), self)

    def opened(self, transport: asyncio.Transport) -> bool:
        """Note a connection; False when there are too many, and it must be ended."""
        host = str((transport.get_extra_info("peername") or ("",))[0])
        if len(self._open) >= self._bounds.total or Counter(self._open.values())[host] >= self._bounds.of_host:
            return False
        self._open[transport] = host
        self._timers[transport] = asyncio.get_running_loop().call_later(self._bounds.seconds, transport.abort)
        return True

    def closed(self, transport: asyncio.BaseTransport | None) -> None:
        """Forget a connection."""
        if transport is not None and self._open.pop(transport, None) is not None:
            self._timers.pop(transport).cancel()

    def abort(self) -> None:
        """End all that are open."""
        for transport in list(self._open):
            if isinstance(transport, asyncio.Transport):
                transport.abort()


class _Connection(asyncio.Protocol):
    """Passes everything on to the protocol inside, once the connection has a place."""

    def __init__(self, inner: asyncio.Protocol, bounded: Bounded) -> None:
        self._inner = inner
        self._bounded = bounded
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: Any) -> None:
        if not self._bounded.opened(transport):
            transport.abort()
            return
        self._transport = transport
        self._inner.connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        self._bounded.closed(self._transport)
        if self._transport is not None:
            self._inner.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self._transport is not None:
            self._inner.data_received(data)

    def eof_received(self) -> bool | None:
        return self._inner.eof_received() if self._transport is not None else None

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()
