"""Runs the redaction of log bundles as processes of its own: so many at a time, each within its time and size."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from contextlib import suppress

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.redaction import REFUSED, BundleRefused

_SECONDS = 120.0
_LARGEST = 8 * 2**20
"""Bytes of a bundle after it."""
_CHUNK = 65_536
_MESSAGE = 256
_MODULE = "slipway.reports.redaction"


class Redactor:
    """Removes secrets from log bundles."""

    def __init__(self, *, seconds: float = _SECONDS, largest: int = _LARGEST) -> None:
        """Bound the time of each bundle, and its size afterwards; one is redacted at a time."""
        self._seconds = seconds
        self._largest = largest
        self._turn = asyncio.Semaphore(1)

    async def redact(self, data: bytes) -> bytes:
        """Give a log bundle without secrets.

        Raises:
            BundleRefused: it is no log bundle, or takes too much.
            ReportsUnavailable: it could not be redacted, for a reason that is not the bundle's.
        """
        async with self._turn:
            try:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", _MODULE, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment()
                )
            except OSError as error:
                raise ReportsUnavailable(f"log bundles cannot be redacted: {type(error).__name__}") from None
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._outcome(process, data)
            except TimeoutError:
                raise BundleRefused("takes too long to be redacted") from None
            finally:
                if process.returncode is None:
                    process.kill()
                await process.wait()

    async def _outcome(self, process: asyncio.subprocess.Process, data: bytes) -> bytes:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("a pipe was asked for and is not there")
        feeding = asyncio.ensure_future(_feed(process.stdin, data))
        try:
            content = await _content(process.stdout, self._largest)
            message = await process.stderr.read(_MESSAGE)
        finally:
            feeding.cancel()
            with suppress(asyncio.CancelledError):
                await feeding
        code = await process.wait()
        if code == REFUSED:
            raise BundleRefused(message.decode("utf-8", "replace"))
        if code != 0:
            # It ran into its limits: the bundle was made for that.
            raise BundleRefused("takes too much to be redacted")
        return content


async def _content(stream: asyncio.StreamReader, largest: int) -> bytes:
    parts, size = [], 0
    while chunk := await stream.read(_CHUNK):
        size += len(chunk)
        if size > largest:
            raise BundleRefused(f"has more than {largest >> 20} MiB after it was redacted")
        parts.append(chunk)
    return b"".join(parts)


async def _feed(stream: asyncio.StreamWriter, data: bytes) -> None:
    # A program that has refused the bundle already reads no more.
    with suppress(ConnectionError):
        stream.write(data)
        await stream.drain()
        stream.close()
        await stream.wait_closed()


def _environment() -> dict[str, str]:
    """Give what the program needs: no credential of ours."""
    return {name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT") if name in os.environ}
