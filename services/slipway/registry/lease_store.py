"""The registry's store on Leases: a restart loses no registration, and replicas see each other's.

Reading never waits: a watch keeps the local copy. Writing is done behind, the newest state of each instance only. How
long a lease still lasts is judged by this process's own clock since it last saw it renewed, never by the clocks of two
machines.

The id of a lease is in the object. A reader of it could renew or end that lease where no caller has to prove a name;
so the registry takes this store with TLS only, where a caller must own the name as well.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import structlog

from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.failures import AlreadyExists, ApiFailure, Conflict, NotFound, Unreachable
from slipway.kubernetes_api.informer import Informer
from slipway.kubernetes_api.resources import LEASES, Json
from slipway.registry.clock import Clock
from slipway.registry.instance import Instance
from slipway.registry.registration_lease import (
    LABEL,
    MEMORY,
    Key,
    key_of,
    name_of,
    read,
    renewal,
    written,
)

_TRIES = 4
_log = structlog.get_logger("slipway.registry")


class LeaseStore:
    """Instances by name and instance id, in Lease objects of a namespace."""

    def __init__(  # keyword-only times
        self, api: Api, *, namespace: str, ttl: float, clock: Clock, pause: float = 1.0
    ) -> None:
        """Keep them there; `open` comes before everything else.

        Args:
            api: the cluster.
            namespace: where the Leases are.
            ttl: how long a lease lasts, in seconds.
            clock: this process's own.
            pause: seconds after a write that failed.
        """
        self._pause = pause
        self._api = api
        self._namespace = namespace
        self._ttl = ttl
        self._clock = clock
        self._epoch = ""
        self._instances: dict[Key, Instance] = {}
        self._unwritten: dict[Key, Instance | None] = {}
        self._bases: dict[Key, Json] = {}
        self._written = asyncio.Event()
        self._on_change: Callable[[], None] = lambda: None
        self._informer = Informer(api, LEASES, namespaces=[namespace], selector=f"{LABEL}=instance")
        self._informer.listen(self._observe)
        self._writer: asyncio.Task[None] | None = None

    @property
    def epoch(self) -> str:
        """Uid of the registry's own Lease."""
        return self._epoch

    def all(self) -> Sequence[Instance]:
        """Give all."""
        return list(self._instances.values())

    def put(self, instance: Instance) -> None:
        """Keep an instance; the object follows in a moment."""
        key = key_of(instance)
        self._instances[key] = instance
        self._unwritten[key] = instance
        self._written.set()

    def remove(self, instance: Instance) -> None:
        """Forget it; the object follows in a moment."""
        key = key_of(instance)
        if self._instances.pop(key, None) is not None:
            self._unwritten[key] = None
            self._written.set()

    async def open(self, on_change: Callable[[], None]) -> None:
        """Read what is there and follow it; `on_change` is called when another replica has changed something.

        Raises:
            ApiFailure: the API server does not answer, or forbids.
        """
        self._epoch = await self._memory()
        self._on_change = on_change
        self._informer.start()
        await self._informer.synced.wait()
        self._writer = asyncio.ensure_future(self._write_behind())

    async def close(self) -> None:
        """Write what is left, as far as that goes at once, and stop."""
        await self._informer.stop()
        if self._writer is not None:
            self._writer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._writer
        with contextlib.suppress(ApiFailure):
            await self._write()
        await self._api.connection.close()

    async def _memory(self) -> str:
        body: Json = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": MEMORY, "namespace": self._namespace, "labels": {LABEL: "memory"}},
            "spec": {},
        }
        try:
            lease = await self._api.create(LEASES, self._namespace, body)
        except AlreadyExists:
            lease = await self._api.get(LEASES, self._namespace, MEMORY)
        return str(lease["metadata"]["uid"])

    async def _write_behind(self) -> None:
        while True:
            await self._written.wait()
            self._written.clear()
            try:
                await self._write()
            except ApiFailure as error:
                _log.warning("lease not written, retrying", failure=type(error).__name__)
                self._written.set()
                await asyncio.sleep(self._pause)

    async def _write(self) -> None:
        """Write each; one that fails keeps no other from being written, and is raised at the end.

        Raises:
            ApiFailure: the last of the failures.
        """
        failed: ApiFailure | None = None
        for key in list(self._unwritten):
            instance = self._unwritten[key]
            try:
                await self._write_one(key, instance)
            except ApiFailure as error:
                failed = error
                # The others come first the next time.
                self._unwritten[key] = self._unwritten.pop(key)
                if isinstance(error, Unreachable):
                    break
                continue
            if self._unwritten.get(key, instance) is instance:
                self._unwritten.pop(key, None)
        if failed is not None:
            raise failed

    async def _write_one(self, key: Key, instance: Instance | None) -> None:
        if instance is None:
            self._bases.pop(key, None)
            with contextlib.suppress(NotFound):
                await self._api.delete(LEASES, self._namespace, name_of(key))
            return
        body = written(instance, namespace=self._namespace, ttl=self._ttl)
        for _ in range(_TRIES):
            base = self._bases.get(key)
            try:
                if base is None:
                    self._bases[key] = await self._api.create(LEASES, self._namespace, body)
                else:
                    body["metadata"]["resourceVersion"] = base["metadata"]["resourceVersion"]
                    self._bases[key] = await self._api.replace(LEASES, self._namespace, body)
            except NotFound:
                self._bases.pop(key, None)
                body["metadata"].pop("resourceVersion", None)
            except (AlreadyExists, Conflict):
                if await self._is_overtaken(key, body, base):
                    return
            else:
                return
        raise Conflict("PUT", LEASES.kind, name_of(key))

    async def _is_overtaken(self, key: Key, body: Json, base: Json | None) -> bool:
        """Look at what another replica wrote; return whether it renewed the lease where we did not.

        A replica that renewed knows more than one that only judged from what was seen before; clocks are not compared.
        """
        try:
            lease = await self._api.get(LEASES, self._namespace, name_of(key))
        except NotFound:
            self._bases.pop(key, None)
            return False
        self._bases[key] = lease
        if base is None or not renewal(base) == renewal(body) != renewal(lease):
            return False
        self._unwritten.pop(key, None)
        self._observe(None, lease)
        return True

    def _observe(self, old: Json | None, new: Json | None) -> None:
        """Take in what an object says, unless something newer of our own is on its way to it."""
        if new is None:
            gone = None if old is None else self._instance(old)
            if gone is not None:
                self._bases.pop(key_of(gone), None)
            if gone is not None and key_of(gone) not in self._unwritten:
                self._instances.pop(key_of(gone), None)
                self._on_change()
            return
        instance = self._instance(new)
        if instance is None:
            return
        key = key_of(instance)
        self._bases[key] = new
        if key in self._unwritten:
            return
        held = self._instances.get(key)
        if held is not None and replace(instance, expires=held.expires) == held:
            return
        if held is not None and held.renew_time == instance.renew_time:
            instance = replace(instance, expires=held.expires)
        self._instances[key] = instance
        self._on_change()

    def _instance(self, lease: Json) -> Instance | None:
        return read(lease, expires=self._clock.monotonic() + self._ttl)
