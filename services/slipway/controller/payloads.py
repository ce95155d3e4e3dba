"""The payloads of machines that fetch their user data: stored before the data Secret, deleted when not needed any more.

The name of a payload follows from the config, the rotation and its content. So a controller that takes over in the
middle comes to the same object for the same content, and never changes the one that a stub names.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TypeVar

import structlog

from slipway.bootstrapper.delivery.fetching import FOLDER, Fetching, Payload
from slipway.contract.errors import ReportsUnavailable
from slipway.controller.conditions import Reason
from slipway.controller.halt import Halt
from slipway.controller.tokens import derived_ticket
from slipway.reports.objects import Objects

NOTES = "fetched"
"""Where the node gateway notes each fetch, below the name of the payload."""

MOST_FETCHES = 16
_LONGEST_PEER = 64
A = TypeVar("A")
_log = structlog.get_logger("slipway.controller")


@dataclass(frozen=True, slots=True)
class Payloads:
    """Stores payloads.

    Attributes:
        objects: the store that the node gateway serves.
        fetching: what the operator allows.
    """

    objects: Objects
    fetching: Fetching
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    def fetching_of(self, seed: bytes, *, config_uid: str, rotation: int) -> Fetching:
        """Give what is allowed, with the tickets of a config."""

        def ticket(digest: str) -> str:
            return derived_ticket(seed, config_uid=config_uid, rotation=rotation, digest=digest)

        return replace(self.fetching, ticket=ticket)

    def is_own(self, url: str) -> bool:
        """Whether an address is one of this controller's gateway."""
        return url == self.fetching.url(_name(url))

    async def store(self, payload: Payload) -> None:
        """Store a payload.

        Raises:
            Halt: the store failed.
        """
        await self._run(lambda: self.objects.put(_path(payload.url), payload.data))

    async def fetches(self, url: str) -> list[str]:
        """Give the peer of each fetch of a payload that a gateway noted, at most so many that they can be read.

        Raises:
            Halt: the store failed.
        """
        return await self._run(lambda: self._peers(_name(url)))

    async def delete(self, url: str) -> None:
        """Delete a payload and the notes about it; one that is not there is no error.

        Raises:
            Halt: the store failed.
        """
        await self._run(lambda: self._delete(url))

    def forget(self, url: str) -> None:
        """Delete a payload in the background. Where that fails, the bucket's lifecycle rule deletes it."""
        task = asyncio.get_running_loop().create_task(self._forget(url))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for what is deleted in the background, and end."""
        await asyncio.gather(*self._tasks)
        self.objects.close()

    async def _forget(self, url: str) -> None:
        try:
            await self.delete(url)
        except Halt as halt:
            _log.warning("payload not deleted", reason=halt.reason)

    def _notes(self, name: str) -> list[str]:
        return [path for path, _ in islice(self.objects.paths(f"{NOTES}/{name}"), MOST_FETCHES)]

    def _peers(self, name: str) -> list[str]:
        notes = (self.objects.get(path) for path in self._notes(name))
        return [note.decode("ascii", "replace")[:_LONGEST_PEER] for note in notes if note is not None]

    def _delete(self, url: str) -> None:
        self.objects.delete(_path(url))
        for path in self._notes(_name(url)):
            self.objects.delete(path)

    async def _run(self, work: Callable[[], A]) -> A:
        try:
            return await self.objects.run(work)
        except ReportsUnavailable as error:
            kind = error.message.rpartition(" ")[2]
            raise Halt(Reason.PAYLOAD_STORE_UNAVAILABLE, f"the store of payloads failed: {kind}", retry=True) from None


def _name(url: str) -> str:
    return url.rpartition("/")[2]


def _path(url: str) -> str:
    return f"{FOLDER}/{_name(url)}"
