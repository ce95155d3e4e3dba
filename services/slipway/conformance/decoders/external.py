"""Programs of the user's own that write a MachineState as JSON: one reads user data, one boots a machine with it."""

import asyncio
import contextlib
import json
import os
import signal
import tempfile
import time
from base64 import b64decode
from binascii import Error as BinasciiError
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.json_format import MessageToJson, Parse, ParseError

from slipway.conformance.decoders.sight import NotServedError, UnreadableError
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.outcome import Unjudged
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.conformance.yardstick import slowness
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

SECONDS = 30.0
_SHOWN = 300
"""So many characters of a program's own words are shown."""
_ATTACHMENTS = "attachments"
_NOT_SERVED = 3
"""Exit code of a program that does not serve the format."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program that reports the state of a machine.

    Attributes:
        flag: the option of the suite that names it, for messages.
        command: program and arguments.
        seconds: how long it may take; longer by as much as this machine is late or slow.
    """

    flag: str
    command: Sequence[str]
    seconds: float = SECONDS

    async def report(self, job: "Job") -> statepb.MachineState:
        """Run it in a folder of its own, and give what it writes to standard output.

        Raises:
            UnreadableError: it failed, or wrote no MachineState; or an attachment's name is not that of a file.
            NotServedError: it ended with exit code 3.
            Unjudged: it did not end, on a machine that is too slow.
        """
        with tempfile.TemporaryDirectory(prefix="slipway-conformance-") as folder:
            job.lay_out(Path(folder))
            written, errors, status = await self._run(job, folder)
        if status == _NOT_SERVED:
            raise NotServedError(f"{self.flag} does not serve this format{_last_words(errors)}")
        if status != 0:
            raise UnreadableError(f"{self.flag} ended with exit code {status}{_last_words(errors)}")
        try:
            state = Parse(written.decode(), statepb.MachineState())
            _see_bytes(json.loads(written), state.DESCRIPTOR)
        except BinasciiError:
            raise UnreadableError(f"{self.flag} wrote bytes that are not base64 as RFC 4648 has it, padded") from None
        except (ParseError, UnicodeDecodeError) as error:
            place = f": {str(error)[:_SHOWN]}" if isinstance(error, ParseError) else ""
            raise UnreadableError(f"{self.flag} did not write a MachineState as JSON{place}") from None
        return state

    async def _run(self, job: "Job", folder: str) -> tuple[bytes, bytes, int | None]:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command,
                cwd=folder,
                env={**os.environ, "SLIPWAY_FORMAT": job.format_id},
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise UnreadableError(f"{self.flag} cannot be started: {error.strerror}") from None
        reading = asyncio.ensure_future(process.communicate(job.standard_input))
        try:
            async with Heartbeat(slowness=slowness).beating() as heartbeat:
                since = time.monotonic()
                ended = await heartbeat.within(self.seconds, lambda seconds: _done(reading, seconds))
        finally:
            if not reading.done():  # too late, or the suite itself is ended
                reading.cancel()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # what it has started holds its pipes and would run on
                await asyncio.gather(reading, return_exceptions=True)
                await process.wait()
        if not ended and (unjudged := heartbeat.unjudged(since)):
            raise Unjudged(f"{self.flag} did not end within {self.seconds:.0f} seconds", unjudged)
        if not ended:
            raise UnreadableError(f"{self.flag} did not end within {self.seconds:.0f} seconds")
        return *reading.result(), process.returncode


@dataclass(frozen=True, slots=True)
class Job:
    """What a program gets.

    Attributes:
        format_id: the format, in SLIPWAY_FORMAT.
        standard_input: what it reads there.
        attachments: files by name, in its working directory or in the folder `subfolder` of it.
        files: further files of its working directory.
        subfolder: where attachments are, unless in the working directory itself.
    """

    format_id: str
    standard_input: bytes = field(default=b"", repr=False)
    attachments: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    files: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    subfolder: str = ""

    def lay_out(self, folder: Path) -> None:
        """Write all files.

        Raises:
            UnreadableError: an attachment's name is not that of a file.
        """
        for name, content in self.files.items():
            (folder / name).write_bytes(content)
        beside = folder / self.subfolder
        beside.mkdir(exist_ok=True)
        for name, content in self.attachments.items():
            _write(beside, name, content)


async def decode(
    command: Sequence[str], user_data: bytes, *, format_id: str, attachments: Mapping[str, bytes]
) -> statepb.MachineState:
    """Have user data read: it is on standard input, and attachments are in the working directory.

    Raises:
        UnreadableError: as `Program.report`.
    """
    return await Program("--decode-cmd", command).report(Job(format_id, user_data, attachments))


async def boot(
    command: Sequence[str],
    request: provisionerpb.RenderRequest,
    response: provisionerpb.RenderResponse,
    *,
    paths: Iterable[str],
    seconds: float,
) -> statepb.MachineState:
    """Have a machine booted with user data, and give what it became.

    The program finds the files `user-data`, `target.json`, `paths` (what the suite wants to see, a path a line) and the
    folder `attachments` in its working directory.

    Raises:
        UnreadableError: as `Program.report`.
    """
    files = {
        "user-data": response.user_data,
        "target.json": MessageToJson(request.target, preserving_proto_field_name=True).encode(),
        "paths": "".join(f"{path}\n" for path in paths).encode(),
    }
    attachments = {attachment.name: attachment.content for attachment in response.attachments}
    job = Job(response.format, files=files, attachments=attachments, subfolder=_ATTACHMENTS)
    return await Program("--boot-cmd", command, seconds).report(job)


def _see_bytes(value: Any, kind: Descriptor) -> None:
    """See that all bytes are written strictly: proto-JSON would take for whole what a machine does not.

    Raises:
        BinasciiError: some are not.
    """
    for known in kind.fields:
        held = value.get(known.json_name, value.get(known.name))
        for entry in [] if held is None else held if known.is_repeated else [held]:
            if known.type == FieldDescriptor.TYPE_BYTES:
                b64decode(entry, validate=True)
            elif known.message_type is not None and isinstance(entry, dict):
                _see_bytes(entry, known.message_type)


def _last_words(errors: bytes) -> str:
    """Give the last line of what the program wrote to standard error: it is the user's own, on made-up data."""
    lines = errors.decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f": {''.join(filter(str.isprintable, last))[:_SHOWN]}" if last else ""


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
