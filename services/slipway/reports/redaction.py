"""Log bundles without secrets: what a machine sends is never kept before this has been through it.

The machine removes secrets too, those that it knows by their values; but a machine may be anyone's. This is a program
of its own, so that an archive made to take all memory or all time takes those of a process that is ended for it: the
bundle comes by standard input, and goes by standard output.
"""

import gzip
import io
import re
import sys
import tarfile
import zlib
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import unquote

from slipway.diagnosis.log_text import cut, decoded
from slipway.diagnosis.scrubbing import REMOVED, scrubbed
from slipway.reports.bundle_refusal import BundleRefused, run_bounded

LARGEST = 64 * 2**20
"""Bytes of a bundle, unpacked."""
LARGEST_MEMBER = 16 * 2**20
MOST_MEMBERS = 256
_LONGEST_NAME = 200
_NAME = re.compile(r"(?!\.{1,2}(/|$))[A-Za-z0-9_.@+-][A-Za-z0-9_.@:+-]*", re.ASCII)
_MOST_PARTS = 8
_BEGIN, _END = "-----BEGIN ", "-----END "
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{1,80}", re.ASCII)
_LONGEST_KEY = 400
"""Lines of a key or certificate."""


class _Bounded(io.RawIOBase):
    """What is unpacked of a stream, up to the limit."""

    def __init__(self, stream: gzip.GzipFile) -> None:
        self._stream = stream
        self._remaining = LARGEST

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, 2**20) if size >= 0 else 2**20)
        self._remaining -= len(data)
        if self._remaining < 0:
            raise BundleRefused(f"has more than {LARGEST >> 20} MiB unpacked")
        return data


def redact(source: BinaryIO, target: BinaryIO) -> None:
    """Read a log bundle (tar, gzip) and write it without secrets, in bounded memory.

    What is no text is left out, with a note in its place. Folders are left out.

    Raises:
        BundleRefused: it is damaged, too large, or holds links, devices, or names that are no names of logs.
    """
    names: set[str] = set()
    try:
        with (
            gzip.GzipFile(fileobj=source, mode="rb") as unpacked,
            tarfile.open(fileobj=_Bounded(unpacked), mode="r|", bufsize=64 * 1024) as archive,
            gzip.GzipFile(filename="", fileobj=target, mode="wb", mtime=0, compresslevel=6) as packed,
            tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as redacted,
        ):
            for count, member in enumerate(archive):
                if count >= MOST_MEMBERS:
                    raise BundleRefused(f"has more than {MOST_MEMBERS} files and folders")
                if member.isdir():
                    continue
                _check(member, names)
                opened = archive.extractfile(member)
                _add(redacted, member, len(names), opened.read() if opened else b"")
                names.add(member.name)
        if not names:
            raise BundleRefused("has no file")
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error, UnicodeError, ValueError) as error:
        if isinstance(error, BundleRefused):
            raise
        raise BundleRefused("is no tar archive compressed with gzip, or damaged") from None


def _check(member: tarfile.TarInfo, names: set[str]) -> None:
    if not member.isreg():
        raise BundleRefused("holds something that is neither a file nor a folder")
    parts = member.name.split("/")
    is_name = all(_NAME.fullmatch(part) for part in parts) and len(member.name) <= _LONGEST_NAME
    if not is_name or len(parts) > _MOST_PARTS or member.name in names:
        raise BundleRefused("has a name twice, or one that is no relative path of a log")
    if member.size > LARGEST_MEMBER:
        raise BundleRefused(f"has a file of more than {LARGEST_MEMBER >> 20} MiB")


def _add(archive: tarfile.TarFile, member: tarfile.TarInfo, number: int, data: bytes) -> None:
    text = decoded(data)
    content = "\n".join(_redacted(text)).encode() if text is not None else f"{REMOVED}: is no text\n".encode()
    name = member.name if scrubbed(member.name) == member.name else f"removed-{number}"
    header = tarfile.TarInfo(name)
    header.size, header.mode = len(content), 0o600
    header.mtime = int(member.mtime) if 0 <= member.mtime < 2**33 else 0
    archive.addfile(header, io.BytesIO(content))


def _redacted(text: str) -> Iterator[str]:
    """Give the lines of a text without secrets; a key that goes over several lines is removed as a whole."""
    remaining = 0
    for line in _lines(text):
        if remaining and _END not in line and _is_of_key(line):
            remaining -= 1
            yield REMOVED
            continue
        remaining = _LONGEST_KEY if _BEGIN in line and _END not in line.rpartition(_BEGIN)[2] else 0
        yield _scrubbed(line)


def _scrubbed(line: str) -> str:
    shown = "".join(scrubbed(part) for part in cut(line))
    if "%" not in line or (plain := unquote(line)) == line:
        return shown
    # What is encoded with percent signs may begin or end in the middle of a word.
    decoded_line = "".join(scrubbed(part) for part in cut(plain))
    return decoded_line if REMOVED in decoded_line else shown


def _lines(text: str) -> Iterator[str]:
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end].rstrip("\r")
        start = end + 1
    yield text[start:].rstrip("\r")


def _is_of_key(line: str) -> bool:
    """Whether a line may be one of a key: its last word is base64, whatever a log has put in front."""
    words = line.rsplit(maxsplit=1)
    return not words or _BASE64.fullmatch(words[-1]) is not None


def main() -> int:
    """Redact standard input to standard output; give the exit code."""
    return run_bounded(lambda: redact(sys.stdin.buffer, sys.stdout.buffer))


if __name__ == "__main__":
    sys.exit(main())
