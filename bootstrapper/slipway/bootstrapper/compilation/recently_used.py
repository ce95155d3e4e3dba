"""Keeps values of the same kind that are expensive to make, up to a number of bytes: those that were used last."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Generic, TypeVar

V = TypeVar("V")


@dataclass(slots=True)
class RecentlyUsed(Generic[V]):
    """Values by key, those that were used last, as many as fit in `max_bytes`. Threads may share it."""

    max_bytes: int
    _kept: OrderedDict[bytes, tuple[V, int]] = field(default_factory=OrderedDict, repr=False)
    _bytes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def get(self, key: bytes) -> V | None:
        """Return a value that is kept; it is now the one that was used last."""
        with self._lock:
            if key not in self._kept:
                return None
            self._kept.move_to_end(key)
            return self._kept[key][0]

    def put(self, key: bytes, value: V, size: int) -> None:
        """Keep a value of so many bytes in place of those that were not used for longest; not one that is too large."""
        if size > self.max_bytes:
            return
        with self._lock:
            if key in self._kept:
                self._bytes -= self._kept.pop(key)[1]
            self._bytes += size
            self._kept[key] = value, size
            while self._bytes > self.max_bytes:
                self._bytes -= self._kept.popitem(last=False)[1][1]

    def __len__(self) -> int:
        """Return how many values are kept."""
        return len(self._kept)
