"""A decoder of the user's own: a program that reads user data and writes a MachineState as JSON."""

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from google.protobuf.json_format import Parse, ParseError

from slipway.conformance.decoders.unreadable import UnreadableError
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb

SECONDS = 30.0


async def decode(
    command: Sequence[str], user_data: bytes, *, format_id: str, attachments: Mapping[str, bytes]
) -> statepb.MachineState:
    """Run the program: user data on standard input, the format in SLIPWAY_FORMAT, attachments in its working directory.

    Raises:
        UnreadableError: it failed, or wrote no MachineState; or an attachment's name is none that a file can have.
    """
    with tempfile.TemporaryDirectory(prefix="slipway-decode-") as folder:
        for name, content in attachments.items():
            _write(Path(folder), name, content)
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                env={**os.environ, "SLIPWAY_FORMAT": format_id},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise UnreadableError(f"--decode-cmd cannot be started: {error.strerror}") from None
        reading = asyncio.ensure_future(process.communicate(user_data))
        try:
            async with Heartbeat().beating() as heartbeat:
                ended = await heartbeat.within(SECONDS, lambda seconds: _done(reading, seconds))
        finally:
            if not reading.done():  # too late, or the suite itself is ended
                reading.cancel()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # what it has started holds its pipes and would run on
                await asyncio.gather(reading, return_exceptions=True)
                await process.wait()
        if not ended:
            raise UnreadableError(f"--decode-cmd did not end within {SECONDS:.0f} seconds")
        written, _ = reading.result()
    if process.returncode != 0:
        raise UnreadableError(f"--decode-cmd ended with exit code {process.returncode}")
    try:
        return Parse(written.decode(), statepb.MachineState())
    except (ParseError, UnicodeDecodeError):
        raise UnreadableError("--decode-cmd did not write a MachineState as JSON") from None


async def _done(reading: "asyncio.Future[tuple[bytes, bytes]]", seconds: float) -> bool:
    await asyncio.wait({reading}, timeout=seconds)
    return reading.done()


def _write(folder: Path, name: str, content: bytes) -> None:
    """Names are the provisioner's word: one that leads out of the folder, or is none, is its fault."""
    try:
        if Path(name).name != name:
            raise UnreadableError("an attachment's name is not that of a file")
        (folder / name).write_bytes(content)
    except (OSError, ValueError):
        raise UnreadableError("an attachment's name is not that of a file") from None
