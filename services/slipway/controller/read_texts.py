"""Texts of workload clusters that were read: what was in them, so that a text that is there again is not read again.

Their number and length are in the hands of who writes there. So a text itself is not kept, and of all clusters together
there is a bound: a text beyond it is read again each time.
"""

from collections.abc import Collection, Hashable, Iterable
from hashlib import blake2b
from typing import Generic, TypeVar

MOST = 100_000
"""Texts, and things in them, of all clusters: about 20 MiB."""

_DIGEST_BYTES = 16

Place = TypeVar("Place", bound=Hashable)


def digest_of(text: str) -> bytes:
    """Return by what a text is known again."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES).digest()


class ReadTexts(Generic[Place]):
    """What was in each text, by place and digest."""

    def __init__(self, most: int = MOST) -> None:
        """Keep so many at most."""
        self._most = most
        self._size = 0
        self._places: dict[Place, dict[bytes, tuple[str, ...]]] = {}

    def get(self, place: Place, digest: bytes) -> tuple[str, ...] | None:
        """Return what was in a text; None where that is not known."""
        return self._places.get(place, {}).get(digest)

    def keep(self, place: Place, digest: bytes, what: Iterable[str]) -> None:
        """Keep what was in a text that is not known, if there is room."""
        kept = tuple(what)
        if self._size + len(kept) < self._most:
            self._places.setdefault(place, {})[digest] = kept
            self._size += 1 + len(kept)

    def retain(self, place: Place, digests: Collection[bytes]) -> None:
        """Forget all other texts of a place."""
        texts = self._places.get(place, {})
        for digest in texts.keys() - digests:
            self._size -= 1 + len(texts.pop(digest))
        if not texts:
            self._places.pop(place, None)
