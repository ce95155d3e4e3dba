"""Where `slipway render -o DIR` puts its files: DIR/MACHINE/PROVISIONER.EXT, attachments beside it, and the account.

What a machine fetches is in DIR/MACHINE/payload, as in the store of a node gateway. User data holds keys: every file is
readable by the caller alone.
"""

import errno
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from slipway.bootstrapper.delivery.fetching import FOLDER
from slipway.cli.rendering import Entry, Rendered
from slipway.contract.errors import ProvisionerFailed

SUMMARY = "summary.json"
PRIVATE_FILE = 0o600
PRIVATE_FOLDER = 0o700
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


class OutputFolder:
    """A folder that takes what one call renders; what an earlier call left is replaced."""

    def __init__(self, folder: Path) -> None:
        """Take a folder; it need not exist."""
        self._folder = folder
        self._taken: set[Path] = set()
        self._earlier = self._of_earlier_call()

    def write(self, results: Sequence[Rendered]) -> None:
        """Write user data and attachments of all, put the files' names into the entries, and write the account of them.

        The first format of a provisioner is PROVISIONER.EXT, further ones PROVISIONER-FORMAT.EXT. Where one cannot be
        written nothing stays of any, nor the account of an earlier call: half of a cluster must not be booted.

        Raises:
            OSError: a file cannot be written, or a folder for it is a link.
            ProvisionerFailed: the provisioner gave an invalid file name.
        """
        for result in results:
            _refuse_link(self._folder / result.entry.machine)
        try:
            for result in results:
                self._write(result)
            self._write_summary([result.entry for result in results])
        except BaseException:  # Ctrl-C, too.
            self._take_back(results)
            raise

    def _write(self, rendered: Rendered) -> None:
        answer, entry = rendered.answer, rendered.entry
        place = self._folder / entry.machine
        for path in self._earlier.pop((entry.machine, entry.provisioner), ()):
            path.unlink(missing_ok=True)
        if answer is None:
            return
        suffix = answer.file_extension + (".gz" if answer.encoding == "gzip" else "")
        stem = entry.provisioner
        if place / f"{stem}.{suffix}" in self._taken:
            stem = f"{stem}-{entry.format.replace('/', '-')}"
        target = place / _file_name(f"{stem}.{suffix}")
        self._put(target, answer.user_data)
        entry.file = target.relative_to(self._folder).as_posix()
        for attachment in answer.attachments:
            if attachment.url:
                path = place / FOLDER / _file_name(attachment.name)
                self._put(path, attachment.content)
                entry.payload_file = path.relative_to(self._folder).as_posix()
                continue
            # What goes to the machine keeps its name: the user data looks for it.
            name = f"{stem}.{attachment.name}" if attachment.operator_only else attachment.name
            path = place / _file_name(name)
            if path in self._taken:
                path = place / stem / path.name
            self._put(path, attachment.content)

    def _write_summary(self, entries: Sequence[Entry]) -> None:
        """Write the account of all entries. It holds no secret."""
        self._folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps([entry.tree() for entry in entries], indent=2, ensure_ascii=False)
        (self._folder / SUMMARY).unlink(missing_ok=True)
        _fill(self._folder / SUMMARY, f"{text}\n".encode())

    def _take_back(self, results: Sequence[Rendered]) -> None:
        """Remove what this call has written, and what of an earlier one it would have replaced."""
        requested = {(result.entry.machine, result.entry.provisioner) for result in results}
        earlier = {path for key, paths in self._earlier.items() if key in requested for path in paths}
        for path in (*self._taken, *earlier, self._folder / SUMMARY):
            with suppress(OSError):
                path.unlink(missing_ok=True)
        for folder in sorted({path.parent for path in earlier | self._taken}, reverse=True):
            with suppress(OSError):  # It holds what is not of this call.
                folder.rmdir()

    def _put(self, path: Path, content: bytes) -> None:
        _refuse_link(path.parent)
        path.parent.mkdir(parents=True, exist_ok=True, mode=PRIVATE_FOLDER)
        path.unlink(missing_ok=True)
        self._taken.add(path)
        path.touch(mode=PRIVATE_FILE, exist_ok=False)
        _fill(path, content)

    def _of_earlier_call(self) -> dict[tuple[str, str], list[Path]]:
        """Give the files that the account of an earlier call names, as far as they lie in its machines' folders."""
        try:
            entries = json.loads((self._folder / SUMMARY).read_text(encoding="utf-8"))
            paths: dict[tuple[str, str], list[Path]] = {}
            for entry in entries:
                for file in (entry["file"], entry.get("payload_file", "")):
                    machine, *names = file.split("/")
                    if machine == entry["machine"] and all(_FILE_NAME.fullmatch(part) for part in (machine, *names)):
                        paths.setdefault((machine, entry["provisioner"]), []).append(self._folder / file)
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return {}
        return paths


def _fill(path: Path, content: bytes) -> None:
    """Write a file.

    Raises:
        OSError: the disk is full, for example; it always names the file, which Python's own does not while it writes.
    """
    try:
        path.write_bytes(content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _refuse_link(folder: Path) -> None:
    """Refuse to write user data through a link, which may lead to where others read.

    Raises:
        OSError: it is one.
    """
    if folder.is_symlink():
        raise OSError(errno.ELOOP, "is a link, through which no user data is written: remove it", str(folder))


def _file_name(name: str) -> str:
    if not _FILE_NAME.fullmatch(name):
        raise ProvisionerFailed("the provisioner gave an invalid file name")
    return name
