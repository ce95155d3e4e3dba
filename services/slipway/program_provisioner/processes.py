"""Runs the program once for each call, within limits of time, size and number."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog
from google.protobuf.message import Message

from slipway.program_provisioner.scrubbing import Scrubber
from slipway.program_provisioner.wire import Answer, ProgramError, Wire

REFUSED = 3
"""Exit code of a program that has written a refusal."""

STDERR_BYTES = 2048
"""So much of what a program writes to standard error is logged for a call: the end of it."""

_CHUNK = 65536
_log = structlog.get_logger("slipway.program_provisioner")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use.

    Attributes:
        seconds: most time for one call.
        answer_bytes: most that it may write to standard output for one call.
        processes: how many processes run at once; further calls wait.
    """

    seconds: float = 8.0
    answer_bytes: int = 8 * 1024 * 1024
    processes: int = 4


class Program(Protocol):
    """A program that answers calls."""

    async def call(self, name: str, request: Message, scrubber: Scrubber) -> Answer:
        """Have a call answered.

        Raises:
            ProgramError: it gave no answer within its limits.
        """

    async def close(self) -> None:
        """End what runs."""


class ProcessPerCall:
    """The program as a process for each call: the call's name as its last argument, the request on standard input."""

    def __init__(self, command: Sequence[str], *, wire: Wire, limits: Limits) -> None:
        """Run this command; nothing is started yet."""
        self._command = tuple(command)
        self._wire = wire
        self._limits = limits
        self._places = asyncio.Semaphore(limits.processes)

    async def call(self, name: str, request: Message, scrubber: Scrubber) -> Answer:
        """Run the program; exit code 0 is an answer, 3 a refusal, anything else a defect."""
        async with self._places:
            process = await start((*self._command, name))
            errors = bytearray()
            try:
                async with asyncio.timeout(self._limits.seconds), asyncio.TaskGroup() as group:
                    group.create_task(_feed(process, self._wire.request(request)))
                    group.create_task(drain(process, errors))
                    written = await read_bounded(process, self._limits.answer_bytes)
                    code = await process.wait()
            except TimeoutError:
                raise ProgramError(f"it did not answer within {self._limits.seconds:g} seconds") from None
            except BaseExceptionGroup as group_error:
                raise group_error.exceptions[0] from None
            finally:
                await kill(process)
                await log_errors(name, errors, scrubber)
        if code not in (0, REFUSED):
            raise ProgramError(f"it ended with exit code {code}")
        return Answer(refused=code == REFUSED, body=written)

    async def close(self) -> None:
        """Nothing outlives its call."""


async def start(command: Sequence[str], *, limit: int = _CHUNK) -> asyncio.subprocess.Process:
    """Start a program in a session of its own, without the settings of the server.

    Raises:
        ProgramError: it cannot be started.
    """
    try:
        return await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(os.environ),
            limit=limit,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it has a NUL character"
        raise ProgramError(f"it cannot be started: {why}") from None


async def kill(process: asyncio.subprocess.Process) -> None:
    """End a program and all that it has started in its session, and wait for its end."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


async def read_bounded(process: asyncio.subprocess.Process, limit: int) -> bytes:
    """Read standard output to its end.

    Raises:
        ProgramError: it has more than `limit` bytes.
    """
    written = bytearray()
    while chunk := await process.stdout.read(_CHUNK):  # type: ignore[union-attr]  # it is a pipe
        written += chunk
        if len(written) > limit:
            raise ProgramError(f"it wrote more than {limit} bytes")
    return bytes(written)


async def drain(process: asyncio.subprocess.Process, errors: bytearray) -> None:
    """Read standard error to its end, and keep the end of it."""
    while chunk := await process.stderr.read(_CHUNK):  # type: ignore[union-attr]  # it is a pipe
        errors += chunk
        del errors[:-STDERR_BYTES]


async def log_errors(call: str, errors: bytearray, scrubber: Scrubber) -> None:
    """Log what the program wrote to standard error, without any value of the request."""
    if errors:
        text = errors.decode(errors="replace")
        errors.clear()
        shown = await asyncio.to_thread(scrubber.fragments, text)
        lines = ["".join(filter(str.isprintable, line)) for line in shown.splitlines()]
        _log.warning("program wrote to standard error", call=call, text=lines)


async def _feed(process: asyncio.subprocess.Process, request: bytes) -> None:
    # A program that does not need its input may close it.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.write(request)  # type: ignore[union-attr]  # it is a pipe
        await process.stdin.drain()  # type: ignore[union-attr]  # it is a pipe
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        process.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        await process.stdin.wait_closed()  # type: ignore[union-attr]  # it is a pipe


def _environment(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith("SLIPWAY_")}
