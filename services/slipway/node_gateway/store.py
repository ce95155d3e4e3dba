"""The bytes behind the gateway: a local folder or an object store, by one library.

obstore's asynchronous calls end a process by SIGABRT now and then: a thread of its runtime lets go of a Python object
after the interpreter has ended. Its synchronous calls do not, and let others run while they wait; so they are called in
threads.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import obstore
import structlog
from obstore.exceptions import BaseError
from obstore.store import ObjectStore

from slipway.node_gateway.ranges import ByteRange
from slipway.reports.bucket import open_bucket

CHUNK = 64 * 2**10
"""Bytes of an object that a download holds in memory."""

_THREADS = 32

LEFTOVER_DAYS = 2.0
"""After so many days a rule deletes payloads (docs/how-to/fetch-user-data.md); the controller does so after one."""

_MOST_PAYLOADS = 10_000
"""Payloads that are looked at."""

_PAYLOADS = "payload"
_log = structlog.get_logger("slipway.node_gateway")


class StoreUnavailable(Exception):  # noqa: N818  # the store's state, not a fault of ours
    """The store did not answer, or refused; the text is the type of the failure, never its message."""


@dataclass(frozen=True, slots=True)
class Store:
    """Objects by key."""

    objects: ObjectStore
    threads: ThreadPoolExecutor

    @classmethod
    def of(cls, url: str) -> "Store":
        """Open a store by its URL.

        Raises:
            ValueError: the URL or what the environment says of it cannot be used.
        """
        try:
            objects: ObjectStore = open_bucket(url)
        except (BaseError, ValueError, OSError) as error:
            raise ValueError(f"--store cannot be opened: {type(error).__name__}") from None
        return cls(objects, ThreadPoolExecutor(_THREADS, "slipway-store"))

    async def size(self, key: str) -> int | None:
        """Give the size of an object, or None.

        Raises:
            StoreUnavailable: the store failed.
        """
        loop = asyncio.get_running_loop()
        try:
            return int((await loop.run_in_executor(self.threads, obstore.head, self.objects, key))["size"])
        except FileNotFoundError:
            return None
        except (BaseError, OSError) as error:
            raise StoreUnavailable(type(error).__name__) from None

    async def modified(self, folder: str, *, most: int) -> list[float]:
        """Give when each object in a folder and below was written, in seconds since 1970 (UTC); of the first ones.

        Raises:
            StoreUnavailable: the store failed, or does not list.
        """

        def listed() -> list[float]:
            entries = (entry for chunk in obstore.list(self.objects, folder) for entry in chunk)
            return [entry["last_modified"].timestamp() for entry in islice(entries, most)]

        try:
            return await asyncio.get_running_loop().run_in_executor(self.threads, listed)
        except (BaseError, OSError) as error:
            raise StoreUnavailable(type(error).__name__) from None

    async def read(self, key: str, part: ByteRange) -> AsyncIterator[bytes]:
        """Give a part of an object in chunks.

        Raises:
            StoreUnavailable: the store failed, or has no longer what it had.
        """
        loop = asyncio.get_running_loop()
        try:
            chunks = await loop.run_in_executor(self.threads, self._open, key, part)
            while chunk := await loop.run_in_executor(self.threads, next, chunks, None):
                yield bytes(chunk)
        except (BaseError, OSError) as error:
            raise StoreUnavailable(type(error).__name__) from None

    def close(self) -> None:
        """Let no thread be left."""
        self.threads.shutdown(cancel_futures=True)

    def _open(self, key: str, part: ByteRange) -> Iterator[bytes]:
        result = obstore.get(self.objects, key, options={"range": (part.start, part.end)})
        return iter(result.stream(min_chunk_size=CHUNK))


async def warn_of_leftovers(store: Store, clock: Callable[[], float] = time.time) -> int:
    """Warn where the store has payloads that a rule would have deleted; give their number.

    A management cluster that is gone deletes none, so a bucket needs a rule. Object stores differ in how a rule is
    read, and the gateway's credential need not have the right. What a rule would have deleted is seen in a list.
    A store that fails, or does not list, is left alone: nothing rests on the answer.
    """
    before = clock() - LEFTOVER_DAYS * 86_400
    try:
        ages = await store.modified(_PAYLOADS, most=_MOST_PAYLOADS)
    except StoreUnavailable as error:
        _log.info("payloads not listed", error=str(error))
        return 0
    count = sum(modified < before for modified in ages)
    if count:
        _log.warning("store has old payloads, its lifecycle rule is missing or does not delete them", count=count)
    return count
