"""Turns of workload clusters, for work in all of them that must wait for none.

What a cluster answers, and when, is in the hands of its tenant. Clusters that are done quickly have places of their
own, and lose them once they are slow; one that fails is left alone for a while that grows. No namespace holds all
places, and the next is of the namespace that holds the fewest: many clusters of one tenant hold up no other's.
"""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from slipway.kubernetes_api.failures import ApiFailure

_PLACES = 4
"""Clusters that have a turn at a time, of those that are quick, and of the others."""

_OF_NAMESPACE = 3
"""Of these, those of one namespace."""

_QUICK_SECONDS = 5.0
"""How long a turn of a quick cluster is, and a turn of another one by which it becomes quick."""

_CLUSTER_SECONDS = 30.0
"""How long any turn is."""

_FIRST_REST = 5.0
_LONGEST_REST = 60.0
"""Seconds for which a cluster is left alone that did not answer."""

_MOST_OWED = 9


@dataclass(slots=True)
class Responsiveness:
    """How a cluster answers.

    `owed`: quick turns until it counts as quick; each failure adds two, so that one that answers now and then takes no
    place of those that do.
    """

    owed: int = 1
    rest_until: float = 0.0


class ClusterTurns:
    """The places that there are; each kind of work has its own."""

    def __init__(self, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Measure by a clock in seconds."""
        self._monotonic = monotonic
        self._places = {is_quick: _Places() for is_quick in (True, False)}

    def rests(self, responsiveness: Responsiveness) -> bool:
        """Whether a cluster is left alone now."""
        return responsiveness.rest_until > self._monotonic()

    @asynccontextmanager
    async def turn(self, namespace: str, responsiveness: Responsiveness) -> AsyncIterator[None]:
        """Wait for a turn of a cluster, and count how it goes.

        Raises:
            TimeoutError: the turn was over before the work.
        """
        is_quick = responsiveness.owed == 0
        async with self._places[is_quick].hold(namespace):
            begun = self._monotonic()
            try:
                async with asyncio.timeout(_QUICK_SECONDS if is_quick else _CLUSTER_SECONDS):
                    yield
            except (ApiFailure, TimeoutError):
                responsiveness.rest_until = self._monotonic() + min(
                    _FIRST_REST * 2 ** (responsiveness.owed // 2), _LONGEST_REST
                )
                responsiveness.owed = min(responsiveness.owed + 2, _MOST_OWED)
                raise
            if self._monotonic() - begun <= _QUICK_SECONDS:
                responsiveness.owed = max(responsiveness.owed - 1, 0)


class _Places:
    """A number of places, and those who wait for one, each for its namespace."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Event]] = []

    @asynccontextmanager
    async def hold(self, namespace: str) -> AsyncIterator[None]:
        """Hold a place."""
        entry = namespace, asyncio.Event()
        self._waiting.append(entry)
        self._admit()
        try:
            await entry[1].wait()
            yield
        finally:
            if entry in self._waiting:
                self._waiting.remove(entry)
            else:
                self._held -= Counter([namespace])
                self._admit()

    def _admit(self) -> None:
        while self._waiting and self._held.total() < _PLACES:
            entry = min(self._waiting, key=lambda waiting: self._held[waiting[0]])
            if self._held[entry[0]] >= _OF_NAMESPACE:
                return
            self._waiting.remove(entry)
            self._held[entry[0]] += 1
            entry[1].set()
