"""The object store behind the reports: a folder, S3, GCS or Azure, by one library.

As in the node gateway's own store, obstore's synchronous calls are made in threads: its asynchronous ones end a process
by SIGABRT now and then.
"""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import obstore
from obstore.exceptions import BaseError
from obstore.store import AzureStore, GCSStore, LocalStore, ObjectStore, S3Store

from slipway.contract.errors import ReportsUnavailable
from slipway.reports.bucket import open_bucket

_THREADS = 32
_CHUNK = 1000
_FOLDER = "file://"
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class ObjectVersion:
    """An object as a list shows it; one that was written again is another.

    Attributes:
        path: its name.
        size: bytes.
        modified: when it was written, in seconds since 1970 (UTC).
        tag: changes with the content, where the store has such a tag.
    """

    path: str
    size: int
    modified: float
    tag: str | None


@dataclass(frozen=True, slots=True)
class Objects:
    """Objects by name. Every call raises ReportsUnavailable when the store fails; its message is never shown."""

    store: ObjectStore
    threads: ThreadPoolExecutor

    @classmethod
    def of(cls, url: str, flag: str = "--report-store") -> "Objects":
        """Open a store by its URL, which a flag has.

        Raises:
            ValueError: the URL, or what the environment says of it, cannot be used.
        """
        try:
            store: ObjectStore = (
                # Folders of machines that are gone go, too.
                LocalStore(url.removeprefix(_FOLDER), automatic_cleanup=True, mkdir=True)
                if url.startswith(_FOLDER)
                else open_bucket(url)
            )
        except (BaseError, ValueError, OSError) as error:
            raise ValueError(f"{flag} cannot be opened: {type(error).__name__}") from None
        return cls(store, ThreadPoolExecutor(_THREADS, "slipway-reports"))

    @property
    def is_ordered(self) -> bool:
        """Whether names are listed in their order; object stores do, a folder does not."""
        return not isinstance(self.store, LocalStore)

    async def run(self, work: Callable[[], A]) -> A:
        """Do work in a thread of the store: calls of it, or what takes the processor for long."""
        return await asyncio.get_running_loop().run_in_executor(self.threads, _unavailable, work)

    def put(self, path: str, data: bytes) -> None:
        """Write an object as a whole."""
        obstore.put(self.store, path, data)

    def get(self, path: str) -> bytes | None:
        """Read an object; None if it does not exist."""
        try:
            return bytes(obstore.get(self.store, path).bytes())
        except FileNotFoundError:
            return None

    def has(self, path: str) -> bool:
        """Whether there is such an object."""
        try:
            obstore.head(self.store, path)
        except FileNotFoundError:
            return False
        return True

    def signed_address(self, path: str, valid: timedelta) -> str:
        """Give an address by which an object can be read without a credential; a secret, as long as it is valid.

        Raises:
            ValueError: the store signs none.
        """
        if not isinstance(self.store, S3Store | GCSStore | AzureStore):
            raise ValueError("a folder signs no addresses")  # noqa: TRY004  # a setting, and no defect
        return obstore.sign(self.store, "GET", path, valid)

    def chunks(self, path: str, size: int) -> Iterator[bytes]:
        """Read an object in parts of about a size."""
        return (bytes(chunk) for chunk in obstore.get(self.store, path).stream(min_chunk_size=size))

    def paths(self, folder: str, *, after: str = "") -> Iterator[tuple[str, int]]:
        """Give name and size of each object in a folder and below, those behind a name only."""
        for chunk in obstore.list(self.store, folder, offset=after or None, chunk_size=_CHUNK):
            for entry in chunk:
                yield entry["path"], entry["size"]

    def versions(self, folder: str) -> Iterator[ObjectVersion]:
        """Give the objects in a folder and below."""
        for chunk in obstore.list(self.store, folder, chunk_size=_CHUNK):
            for entry in chunk:
                yield ObjectVersion(entry["path"], entry["size"], entry["last_modified"].timestamp(), entry["e_tag"])

    def folders(self, folder: str) -> list[str]:
        """Give the names of the folders in a folder, in no order."""
        prefixes = obstore.list_with_delimiter(self.store, folder)["common_prefixes"]
        return [prefix.rstrip("/").rpartition("/")[2] for prefix in prefixes]

    def delete(self, path: str) -> None:
        """Delete an object; one that is not there is no error."""
        try:
            obstore.delete(self.store, path)
        except FileNotFoundError:
            return

    def close(self) -> None:
        """End the threads."""
        self.threads.shutdown(cancel_futures=True)


def _unavailable(work: Callable[[], A]) -> A:
    try:
        return work()
    except (BaseError, OSError) as error:
        raise ReportsUnavailable(f"the store of reports failed: {type(error).__name__}") from None
