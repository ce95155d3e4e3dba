"""What mutants of the transport and the process share."""

import asyncio
import contextlib
from pathlib import Path
from typing import Any

from slipway.conformance.certificates import NAMES
from slipway.conformance.launcher import free_address
from tests.services.conformance.bent import Bent, Life


def living(life: Life, **more: Any) -> Bent:
    return Bent(process=life, **more)


def read(folder: Path) -> tuple[bytes, bytes, bytes]:
    chain, key, authority = ((folder / name).read_bytes() for name in NAMES)
    return chain, key, authority


class Front(Life):
    """Something in front of the server that looks at the first bytes of each connection and sends it on."""

    def __init__(self) -> None:
        self.behind = ""
        self._started: list[asyncio.Future[asyncio.Server]] = []
        self._writers: list[asyncio.StreamWriter] = []

    def front(self, listen: str) -> str:
        self.behind = free_address()
        host, _, port = listen.rpartition(":")
        self._started.append(asyncio.ensure_future(asyncio.start_server(self._serve, host, int(port))))
        return self.behind

    async def close(self) -> None:
        for starting in self._started:
            server = await starting
            server.close()
        self._started.clear()
        for writer in self._writers:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in self._writers), return_exceptions=True)
        self._writers.clear()

    def choose(self, head: bytes) -> str:
        """Give where a connection goes that begins so."""
        return self.behind

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readexactly(11)
            host, _, port = self.choose(head).rpartition(":")
            inner_reader, inner_writer = await asyncio.open_connection(host, int(port))
            self._writers.append(inner_writer)
            inner_writer.write(head)
            try:
                await asyncio.gather(self._pump(reader, inner_writer), self._pump(inner_reader, writer))
            finally:
                inner_writer.close()
                writer.close()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.seen(data)
                writer.write(data)
                await writer.drain()
        writer.close()

    def seen(self, data: bytes) -> None:
        """Look at what goes through."""
