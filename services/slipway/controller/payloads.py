"""The payloads of machines that fetch their user data: stored before the data Secret, deleted when not needed any more.

The name of a payload follows from the config, the rotation and its content. So a controller that takes over in the
middle comes to the same object for the same content, and never changes the one that a stub names.

Who may write Secrets chooses their annotations, but not their namespace: a payload is that of the namespace for which
it was stored, and nothing of another namespace reads its notes or deletes it.
"""

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import structlog

from slipway.bootstrapper.delivery.fetching import FOLDER, Fetching, Payload
from slipway.contract.errors import ReportsUnavailable
from slipway.controller.halt import Halt
from slipway.controller.reasons import Reason
from slipway.controller.tokens import derived_ticket

if TYPE_CHECKING:
    from slipway.reports.objects import Objects

NOTES = "fetched"
"""Where the node gateway notes each fetch, below the name of the payload."""

OWNERS = "owners"
"""Where the namespace of a payload is noted, below its name: for the controller alone, no machine reads it."""

SIGNED_FOR = timedelta(hours=25)
"""How long a pre-signed address is valid: longer than a payload is kept."""

_NAME = re.compile("[0-9a-f]{64}")
"""Of a payload: payload_name()."""

_TEMPORARY = ("x-amz-security-token=", "skoid=")
"""What the address of a credential has that expires: a session of AWS, a user delegation of Azure.

Source: Microsoft, "Create a user delegation SAS"."""

_KEY_FILES = ("GOOGLE_SERVICE_ACCOUNT", "GOOGLE_SERVICE_ACCOUNT_PATH", "GOOGLE_APPLICATION_CREDENTIALS")
_KEY_TEXT = "GOOGLE_SERVICE_ACCOUNT_KEY"
_EXPIRES = (
    "--payload-presigned needs a credential that does not expire: that of a session, of a workload identity or of a "
    "delegation ends before a machine that boots a day later has fetched its user data"
)
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
        presigned: machines fetch from the bucket itself, by addresses that are signed for one object.
    """

    objects: "Objects"
    fetching: Fetching
    presigned: bool = False
    _tasks: set[asyncio.Task[None]] = field(default_factory=set, repr=False)

    def fetching_of(self, seed: bytes, *, config_uid: str, rotation: int) -> Fetching:
        """Give what is allowed, with the tickets of a config."""

        def ticket(payload: bytes) -> str:
            digest = hashlib.sha256(payload).hexdigest()
            return derived_ticket(seed, config_uid=config_uid, rotation=rotation, digest=digest)

        return replace(self.fetching, ticket=ticket, sign=self._sign if self.presigned else None)

    def check_presigned(self) -> None:
        """Check that the store signs addresses of the bucket that is reported to machines, and long enough.

        Raises:
            ValueError: it does not; the text has no address.
        """
        from obstore.exceptions import BaseError  # noqa: PLC0415  # 5 MiB, which only a store of payloads needs
        from obstore.store import GCSStore  # noqa: PLC0415  # the same library

        if isinstance(self.objects.store, GCSStore) and not _has_google_key(os.environ):
            raise ValueError(_EXPIRES)
        try:
            address, _, query = self._sign("probe").partition("?")
        except (BaseError, ValueError) as error:
            raise ValueError(f"--payload-store signs no addresses: {type(error).__name__}") from None
        if address != self.fetching.url("probe"):
            raise ValueError("--payload-url-base must be the address of --payload-store, with its prefix")
        if any(part in query.lower() for part in _TEMPORARY):
            raise ValueError(_EXPIRES)

    def is_own(self, url: str) -> bool:
        """Whether an address is that of a payload at this controller's gateway."""
        return bool(_NAME.fullmatch(_name(url))) and url == self.fetching.url(_name(url))

    async def store(self, payload: Payload, *, namespace: str) -> None:
        """Store a payload of a namespace.

        Raises:
            Halt: the store failed.
        """
        await self._run(lambda: self._store(payload, namespace))

    async def has(self, url: str, *, namespace: str) -> bool:
        """Whether the payload of an address is in the store, as one of the namespace.

        Raises:
            Halt: the store failed.
        """
        return await self._run(lambda: self._has(_name(url), namespace))

    async def fetches(self, url: str, *, namespace: str) -> list[str]:
        """Give the peer of each fetch of a payload that a gateway noted, at most so many that they can be read.

        Raises:
            Halt: the store failed.
        """
        return await self._run(lambda: self._peers(_name(url), namespace))

    async def delete(self, url: str, *, namespace: str) -> None:
        """Delete a payload of a namespace and the notes about it; one that is not there is no error.

        Nothing is deleted for any other address, nor for another namespace's payload: the annotations of a Secret are
        chosen by those who may write it.

        Raises:
            Halt: the store failed.
        """
        if self.is_own(url):
            await self._run(lambda: self._delete(_name(url), namespace))

    def forget(self, url: str, *, namespace: str) -> None:
        """Delete a payload in the background. Where that fails, the bucket's lifecycle rule deletes it."""
        task = asyncio.get_running_loop().create_task(self._forget(url, namespace))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Wait for what is deleted in the background, and end."""
        await asyncio.gather(*self._tasks)
        self.objects.close()

    async def _forget(self, url: str, namespace: str) -> None:
        try:
            await self.delete(url, namespace=namespace)
        except Halt as halt:
            _log.warning("payload not deleted", reason=halt.reason)

    def _sign(self, name: str) -> str:
        return self.objects.signed_address(f"{FOLDER}/{name}", SIGNED_FOR)

    def _notes(self, name: str) -> list[str]:
        return [path for path, _ in islice(self.objects.paths(f"{NOTES}/{name}"), MOST_FETCHES)]

    def _store(self, payload: Payload, namespace: str) -> None:
        # The owner first: each payload that is there can be deleted.
        self.objects.put(_owner_path(_name(payload.url)), namespace.encode())
        self.objects.put(_path(_name(payload.url)), payload.data)

    def _has(self, name: str, namespace: str) -> bool:
        return self._is_of(name, namespace) and self.objects.has(_path(name))

    def _is_of(self, name: str, namespace: str) -> bool:
        return self.objects.get(_owner_path(name)) == namespace.encode()

    def _peers(self, name: str, namespace: str) -> list[str]:
        paths = self._notes(name)
        if not paths or not self._is_of(name, namespace):
            return []
        notes = map(self.objects.get, paths)
        return [note.decode("ascii", "replace")[:_LONGEST_PEER] for note in notes if note is not None]

    def _delete(self, name: str, namespace: str) -> None:
        if not self._is_of(name, namespace):
            return
        self.objects.delete(_path(name))
        for path in self._notes(name):
            self.objects.delete(path)
        # The owner last: where this ends before, it can be done again.
        self.objects.delete(_owner_path(name))

    async def _run(self, work: Callable[[], A]) -> A:
        try:
            return await self.objects.run(work)
        except ReportsUnavailable as error:
            kind = error.message.rpartition(" ")[2]
            raise Halt(Reason.PAYLOAD_STORE_UNAVAILABLE, f"the store of payloads failed: {kind}", retry=True) from None


def _has_google_key(environment: Mapping[str, str]) -> bool:
    """Whether the key of a service account signs. Else a key of Google's does, and for twelve hours at most.

    Source: Google, "Signed URLs", X-Goog-Expires.
    """
    texts = [environment.get(_KEY_TEXT, "")]
    for name in _KEY_FILES:
        with suppress(OSError, UnicodeDecodeError):
            texts.append(Path(environment[name]).read_text("utf-8") if environment.get(name) else "")
    for text in filter(None, texts):
        with suppress(ValueError):
            account = json.loads(text)
            if isinstance(account, dict) and account.get("private_key"):
                return True
    return False


def _name(url: str) -> str:
    return url.rpartition("/")[2]


def _path(name: str) -> str:
    return f"{FOLDER}/{name}"


def _owner_path(name: str) -> str:
    return f"{OWNERS}/{name}"
