"""What a file holds: one log, compressed or not, or a log bundle (tar). Bounded, since nobody vouches for a log."""

import io
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from slipway.diagnosis.log_text import decoded
from slipway.diagnosis.printing import printable

LARGEST = 64 << 20
"""Bytes of all logs of one file together, after decompression."""
MOST_MEMBERS = 10_000
MOST_LINES = 1_000_000
"""Of all logs of one file together; a log of the largest size has fewer, unless it is made to take long."""
_GZIP = b"\x1f\x8b"
_PIECE = 1 << 14
"""Bytes that are decompressed at once: what is behind the end of a stream is copied."""
_NOT_SUPPORTED = {
    b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ": "xz", b"BZh": "bzip2", b"LPKSHHRH": "journal",
    b"ElfFile\0": "Windows event log",
}  # fmt: skip


class LogError(ValueError):
    """A file cannot be read as logs; the text says which, why, and what to do."""


@dataclass(frozen=True)
class Log:
    """One log.

    Attributes:
        name: of the file, or of the member of a bundle.
        text: what it says; None where it is no text.
        member: it is one of a log bundle, where names mean something.
    """

    name: str
    text: str | None
    member: bool = False


def logs_of(name: str, data: bytes) -> list[Log]:
    """Give the logs that a file holds.

    Raises:
        LogError: the file is damaged, too large, or of a kind that is not supported.
    """
    for _ in range(3):
        if data.startswith(_GZIP):
            data = _unpacked(name, data)
    if len(data) > LARGEST:
        raise LogError(f"{name}: larger than {LARGEST >> 20} MiB; give its end: tail -c {LARGEST >> 20}M")
    kind = next((kind for start, kind in _NOT_SUPPORTED.items() if data.startswith(start)), "")
    if kind:
        raise LogError(f"{name}: is a file of kind {kind}, which is not supported; convert it to text, tar or gzip")
    logs = list(_members(name, data)) if data[257:262] == b"ustar" else [Log(name, decoded(data))]
    if sum(_lines(log.text or "") for log in logs) > MOST_LINES:
        raise LogError(f"{name}: has more than {MOST_LINES} lines; give its end: tail -n {MOST_LINES}")
    return logs


def _lines(text: str) -> int:
    """Count all that may end a line, also within a record."""
    return sum(text.count(end) for end in ("\n", "\r", "\\n")) - text.count("\r\n")


def _unpacked(name: str, data: bytes) -> bytes:
    """Give what gzip holds, several streams too; a file that was cut off is read as far as it goes."""
    parts, size, position, streams = [], 0, 0, 0
    while data.startswith(_GZIP, position):
        stream, streams = zlib.decompressobj(wbits=31), streams + 1
        if streams > MOST_MEMBERS:
            raise LogError(f"{name}: has more than {MOST_MEMBERS} gzip streams; give a part of it")
        while position < len(data) and not stream.eof:
            piece = data[position : position + _PIECE]
            try:
                parts.append(stream.decompress(piece, LARGEST + 1 - size))
            except zlib.error as error:
                raise LogError(f"{name}: the gzip data is damaged; fetch the file again") from error
            size += len(parts[-1])
            if size > LARGEST:
                raise LogError(f"{name}: larger than {LARGEST >> 20} MiB after decompression; give a part of it")
            position += len(piece) - len(stream.unused_data)
    return b"".join(parts)


def _members(name: str, data: bytes) -> Iterator[Log]:
    try:
        yield from _read_members(name, data)
    except LogError:
        raise
    except (tarfile.TarError, ValueError, OverflowError, RecursionError) as error:
        # The library has some headers that are damaged end in others than its own errors.
        raise LogError(f"{name}: the tar archive is damaged; fetch the file again") from error


def _read_members(name: str, data: bytes) -> Iterator[Log]:
    size = 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for count, member in enumerate(archive):
            if count >= MOST_MEMBERS:
                raise LogError(f"{name}: has more than {MOST_MEMBERS} members; give a part of it")
            if not member.isreg():
                continue
            if member.size < 0:
                # It would take from the sum, and a sparse file behind it could have any size.
                raise tarfile.ReadError
            size += member.size
            opened = archive.extractfile(member) if size <= LARGEST else None
            if opened is None:
                raise LogError(f"{name}: larger than {LARGEST >> 20} MiB unpacked; give a part of it")
            content = opened.read()
            path = printable(member.name)
            if content.startswith(_GZIP):
                content = _unpacked(path, content)
                size += len(content)
            yield Log(path, decoded(content), member=True)
