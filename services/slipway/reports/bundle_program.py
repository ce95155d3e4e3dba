"""Runs what reads log bundles as processes of its own: one at a time, each within its time and size."""

import asyncio
import os
import sys
from asyncio.subprocess import PIPE
from contextlib import suppress

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.bundle_refusal import REFUSED, BundleRefused

_CHUNK = 65_536
_MESSAGE = 256


class BundleProgram:
    """A program that gets a log bundle by its standard input, and answers by its standard output."""

    def __init__(self, module: str, purpose: str, *, seconds: float, largest: int) -> None:
        """Bound the time of each bundle, and the size of the answer; one runs at a time.

        Args:
            module: the module that is the program.
            purpose: what it does with a bundle, for messages: a participle.
            seconds: of its time.
            largest: bytes of its answer.
        """
        self._module = module
        self._purpose = purpose
        self._seconds = seconds
        self._largest = largest
        self._turn = asyncio.Semaphore(1)

    async def run(self, data: bytes) -> bytes:
        """Give the answer.

        Raises:
            BundleRefused: it is no log bundle, or takes too much.
            ReportsUnavailable: the program could not be run, for a reason that is not the bundle's.
        """
        async with self._turn:
            try:
                process = await asyncio.create_subprocess_exec(
                    sys.executable, "-m", self._module, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_environment()
                )
            except OSError as error:
                raise ReportsUnavailable(f"log bundles cannot be {self._purpose}: {type(error).__name__}") from None
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._outcome(process, data)
            except TimeoutError:
                raise BundleRefused(f"takes too long to be {self._purpose}") from None
            finally:
                if process.returncode is None:
                    process.kill()
                await process.wait()

    async def _outcome(self, process: asyncio.subprocess.Process, data: bytes) -> bytes:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise RuntimeError("a pipe was asked for and is not there")
        feeding = asyncio.ensure_future(_feed(process.stdin, data))
        try:
            content = await self._content(process.stdout)
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
            raise BundleRefused(f"takes too much to be {self._purpose}")
        return content

    async def _content(self, stream: asyncio.StreamReader) -> bytes:
        parts, size = [], 0
        while chunk := await stream.read(_CHUNK):
            size += len(chunk)
            if size > self._largest:
                raise BundleRefused(f"has more than {self._largest >> 20} MiB after it was {self._purpose}")
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
