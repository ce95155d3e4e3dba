"""The bytes behind the gateway: a local folder or an object store, by one library.

obstore's asynchronous calls end a process by SIGABRT now and then: a thread of its runtime lets go of a Python object
after the interpreter has ended. Its synchronous calls do not, and let others run while they wait; so they are called in
threads.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import obstore
from obstore.exceptions import BaseError
from obstore.store import ObjectStore

from slipway.node_gateway.ranges import ByteRange
from slipway.reports.bucket import open_bucket

CHUNK = 64 * 2**10
"""Bytes of an object that a download holds in memory."""

_THREADS = 32


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
