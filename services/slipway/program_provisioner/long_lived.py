"""Runs the program as a few processes that live on and answer a call after the other."""

import asyncio
from collections.abc import Sequence

from google.protobuf.message import Message

from slipway.program_provisioner.processes import Limits, drain, kill, log_errors, start
from slipway.program_provisioner.scrubbing import Scrubber
from slipway.program_provisioner.wire import Answer, ProgramError, Wire


class LongLived:
    """The program as processes that are kept; one that fails a call is ended, and another one takes its place."""

    def __init__(self, command: Sequence[str], *, wire: Wire, limits: Limits) -> None:
        """Run this command; a process is started when a call needs it."""
        self._limits = limits
        self._workers = [_Worker(tuple(command), wire, limits) for _ in range(limits.processes)]
        self._idle: asyncio.LifoQueue[_Worker] = asyncio.LifoQueue()
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def call(self, name: str, request: Message, scrubber: Scrubber) -> Answer:
        """Have a process answer; the one that was used last, so that few are started."""
        worker = await self._idle.get()
        try:
            return await worker.call(name, request, scrubber)
        finally:
            self._idle.put_nowait(worker)

    async def close(self) -> None:
        """End all processes."""
        for worker in self._workers:
            await worker.end()


class _Worker:
    """One process, and how it is talked to."""

    def __init__(self, command: Sequence[str], wire: Wire, limits: Limits) -> None:
        self._command = command
        self._wire = wire
        self._limits = limits
        self._process: asyncio.subprocess.Process | None = None
        self._errors = bytearray()
        self._draining: asyncio.Task[None] | None = None

    async def call(self, name: str, request: Message, scrubber: Scrubber) -> Answer:
        sound = False
        try:
            async with asyncio.timeout(self._limits.seconds):
                answer = await self._exchange(name, request)
            sound = True
        except TimeoutError:
            raise ProgramError(f"it did not answer within {self._limits.seconds:g} seconds") from None
        except (asyncio.IncompleteReadError, BrokenPipeError, ConnectionResetError):
            raise ProgramError("it ended instead of answering") from None
        finally:
            if not sound:
                # What it writes later would be taken for the answer to the next call.
                await self.end()
            await log_errors(name, self._errors, scrubber)
        return answer

    async def end(self) -> None:
        if self._process is not None:
            await kill(self._process)
            self._process = None
        if self._draining is not None:
            await asyncio.wait({self._draining}, timeout=1)
            self._draining.cancel()
            self._draining = None

    async def _exchange(self, name: str, request: Message) -> Answer:
        if self._process is not None and self._process.returncode is not None:
            await self.end()
        if self._process is None:
            self._process = await start(self._command, limit=self._limits.answer_bytes)
            self._draining = asyncio.ensure_future(drain(self._process, self._errors))
        self._process.stdin.write(self._wire.frame(name, request))  # type: ignore[union-attr]  # it is a pipe
        await self._process.stdin.drain()  # type: ignore[union-attr]  # it is a pipe
        reader: asyncio.StreamReader = self._process.stdout  # type: ignore[assignment]  # it is a pipe
        return await self._wire.read_frame(reader, limit=self._limits.answer_bytes)
