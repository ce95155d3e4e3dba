"""Which replica writes: the holder of a Lease.

The client's own election goes on as leader after a failed renewal and compares clocks of two machines. Here a replica
judges another's lease only by how long it saw it unchanged, and one that could not renew in time fails at once: its
process must end, since another replica may write now.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime

import structlog

from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.failures import AlreadyExists, ApiFailure, Conflict, NotFound
from slipway.kubernetes_api.resources import LEASES, Json

_log = structlog.get_logger("slipway.controller")


@dataclass(frozen=True, slots=True)
class LeaseDurations:
    """Seconds: how long a lease lasts, by when a leader must have renewed it, and between two tries."""

    lease: float = 15.0
    renew: float = 10.0
    retry: float = 2.0


class LostLeadership(Exception):  # noqa: N818  # an event in the life of a replica, not an error
    """The lease could not be renewed in time: this process may not write any more."""


class Election:
    """Takes part in the election for one Lease."""

    def __init__(  # noqa: PLR0913  # keyword-only seams
        self,
        api: Api,
        *,
        namespace: str,
        name: str,
        identity: str,
        durations: LeaseDurations | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Stand for election under an identity that no other process has."""
        self._api = api
        self._namespace, self._name = namespace, name
        self._identity = identity
        self._durations = durations or LeaseDurations()
        self._monotonic = monotonic
        self._sleep = sleep
        self._seen: tuple[str, float] = ("", 0.0)
        self._held: Json | None = None

    async def win(self) -> None:
        """Return when this process leads."""
        while not await self._try():
            await self._sleep(self._durations.retry)
        _log.info("leader election won", lease=f"{self._namespace}/{self._name}")

    async def keep(self) -> None:
        """Renew until that fails for too long.

        Raises:
            LostLeadership: always, in the end.
        """
        renewed = self._monotonic()
        while True:
            await self._sleep(self._durations.retry)
            started = self._monotonic()
            try:
                async with asyncio.timeout(max(self._durations.renew - (started - renewed), 0.001)):
                    won = await self._try()
            except TimeoutError:
                won = False
            if won:
                renewed = started
            elif self._monotonic() - renewed >= self._durations.renew or self._held is None:
                raise LostLeadership("the lease of the leader could not be renewed in time")

    async def resign(self) -> None:
        """Give the lease back, so that another replica leads at once."""
        if self._held is None:
            return
        body = {**self._held, "spec": {**self._held["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}}
        self._held = None
        try:
            await self._api.replace(LEASES, self._namespace, body)
        except ApiFailure:
            _log.info("leader election lease not released, it expires")

    async def _try(self) -> bool:
        try:
            return await self._acquire()
        except (Conflict, AlreadyExists):
            # Another replica was quicker: what is held is not known to be ours any more until it is read again.
            return False
        except ApiFailure as error:
            _log.warning("leader election lease unreachable", failure=type(error).__name__)
            return False

    async def _acquire(self) -> bool:
        try:
            lease = await self._api.get(LEASES, self._namespace, self._name)
        except NotFound:
            self._held = await self._api.create(LEASES, self._namespace, self._body({}, transitions=0))
            return True
        spec = lease.get("spec") or {}
        holder = spec.get("holderIdentity") or ""
        if holder not in {"", self._identity}:
            self._held = None
            version = lease["metadata"]["resourceVersion"]
            if version != self._seen[0]:
                self._seen = (version, self._monotonic())
            duration = float(spec.get("leaseDurationSeconds") or self._durations.lease)
            if self._monotonic() - self._seen[1] < duration:
                return False
        transitions = int(spec.get("leaseTransitions") or 0) + (holder != self._identity)
        body = self._body(lease["metadata"], transitions=transitions)
        if holder == self._identity:
            body["spec"]["acquireTime"] = spec.get("acquireTime") or body["spec"]["acquireTime"]
        self._held = await self._api.replace(LEASES, self._namespace, body)
        return True

    def _body(self, metadata: Json, *, transitions: int) -> Json:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"namespace": self._namespace, **metadata, "name": self._name},
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": round(self._durations.lease),
                "acquireTime": now,
                "renewTime": now,
                "leaseTransitions": transitions,
            },
        }
