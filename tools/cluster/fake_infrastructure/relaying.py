"""Bytes from one connection to another, both ways, until either of them ends."""

from __future__ import annotations

import asyncio
import contextlib

Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]

_BYTES = 2**16


async def relay(first: Ends, second: Ends) -> None:
    """Pass on what comes from either side; both are closed at the end."""
    await asyncio.gather(_passed(first[0], second[1]), _passed(second[0], first[1]))


async def _passed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(_BYTES):
            writer.write(data)
            await writer.drain()
    writer.close()
