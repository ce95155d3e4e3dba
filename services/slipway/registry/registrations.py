"""The heart of the registry: what is registered, in which state, for how long. No network and no waiting in here."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from slipway.contract.errors import CapabilitiesDisagree, ConcurrentUpdate, LeaseNotFound, Overloaded, SlipwayError
from slipway.registry.advertisement import differences
from slipway.registry.clock import Clock
from slipway.registry.dialback import Finding
from slipway.registry.instance import DRAINING, EXPIRED, NOT_READY, READY, Instance
from slipway.registry.store import Store
from slipway.rpc.addresses import canonical_endpoint
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

NOT_SERVING = "its health service says that it does not serve"
FIRST_RETRY = 0.5
EXPIRED_KEPT = 10
"""An expired instance is kept for so many times the ttl, for diagnosis."""

MAX_INSTANCES = 64
"""Most instances of one name."""

MAX_LIST = 3 * 1024 * 1024
"""Most bytes of the list of all instances, which goes out as one message of at most 4 MiB."""

MAX_NAME_LIST = 1024 * 1024
"""Most bytes of the instances of one name in it: no name fills the list for the others."""

_BESIDE_INFO = 1024
"""Bytes that an instance has in the list beside its advertisement, at most."""


@dataclass(frozen=True, slots=True)
class LeaseDuration:
    """Of a lease, in seconds: how long it lasts, and when to renew it."""

    ttl: float = 30.0
    renew_after: float = 10.0


class Registrations:
    """All instances and their leases."""

    def __init__(self, store: Store, clock: Clock, *, lease_duration: LeaseDuration, new_id: Callable[[], str]) -> None:
        """Keep them in a store; ``new_id`` gives ids of leases that cannot be guessed."""
        self._store = store
        self._clock = clock
        self._new_id = new_id
        self._changed = asyncio.Event()
        self.lease_duration = lease_duration

    @property
    def epoch(self) -> str:
        """Changes when the registry has lost its memory."""
        return self._store.epoch

    def snapshot(self) -> list[Instance]:
        """Give all instances, sorted by name, version and instance id."""
        return sorted(
            self._store.all(),
            key=lambda instance: (instance.name, instance.info.implementation_version, instance.instance_id),
        )

    def change(self) -> asyncio.Event:
        """Give what will be set at the next change after now."""
        return self._changed

    def holders(self, *, name: str, instance_id: str, endpoint: str) -> frozenset[str]:
        """Give the leases that such a registration would replace; to be asked before the dial, see ``register``."""
        return frozenset(
            instance.lease_id for instance in self._replaced(name, instance_id, endpoint) if instance.lease_id
        )

    def register(self, request: registrypb.RegisterRequest, finding: Finding, *, holders: frozenset[str]) -> Instance:
        """Grant a lease; it replaces an older process of the same id, or at the same endpoint.

        ``holders`` are the leases that were to be replaced when the endpoint was dialled.

        Raises:
            ConcurrentUpdate: there are others now: what this dial found may be older than what they know.
            CapabilitiesDisagree: another instance of the same name and version advertises something else.
            Overloaded: there are too many of that name, or of all.
        """
        name, instance_id, endpoint = request.name, request.instance_id, request.endpoint
        if self.holders(name=name, instance_id=instance_id, endpoint=endpoint) != holders:
            raise ConcurrentUpdate(
                "the same instance, or one at the same endpoint, was registered meanwhile; register again",
                retry_after=FIRST_RETRY,
            )
        replaced = self._replaced(name, instance_id, endpoint)
        self._check_agreement(finding.info, apart_from=replaced)
        self._make_room(finding.info, apart_from=replaced)
        for entry in replaced:
            self._store.remove(entry)
        now = self._clock.now()
        instance = Instance(
            name=name,
            instance_id=instance_id,
            endpoint=endpoint,
            info=finding.info,
            state=READY if finding.serving else NOT_READY,
            state_reason="" if finding.serving else NOT_SERVING,
            identity=finding.identity,
            register_time=now,
            renew_time=now,
            lease_id=self._new_id(),
            expires=self._clock.monotonic() + self.lease_duration.ttl,
        )
        self._put(instance)
        return instance

    def leased(self, lease_id: str) -> Instance | None:
        """Give the instance with that lease; None when it has ended or never was."""
        self.sweep()
        for instance in self._store.all():
            if lease_id and instance.lease_id == lease_id and instance.state != EXPIRED:
                return instance
        return None

    def renew(self, lease_id: str, *, draining: bool) -> None:
        """Let a lease last from now on.

        Raises:
            LeaseNotFound: it has ended or never was.
        """
        instance = self.leased(lease_id)
        if instance is None:
            raise LeaseNotFound("the registry does not hold this lease; register again")
        renewed = replace(
            instance, renew_time=self._clock.now(), expires=self._clock.monotonic() + self.lease_duration.ttl
        )
        if draining:
            renewed = replace(renewed, state=DRAINING, state_reason="it is about to stop")
        if renewed.state == instance.state:
            self._store.put(renewed)
        else:
            self._put(renewed)

    def deregister(self, lease_id: str) -> None:
        """End a lease; harmless without a lease."""
        instance = self.leased(lease_id)
        if instance is not None:
            self._store.remove(instance)
            self._notify()

    def observe(self, instance: Instance, outcome: Finding | SlipwayError) -> None:
        """Take in what a later dial found, if the instance is still there; one that drains goes on draining."""
        current = self._find(instance)
        if current is None or current.state in (DRAINING, EXPIRED):
            return
        info, identity, state, reason = current.info, current.identity, NOT_READY, ""
        if isinstance(outcome, SlipwayError):
            reason = outcome.message
        else:
            try:
                self._check_agreement(outcome.info, apart_from=[current])
                self._make_room(outcome.info, apart_from=[current])
            except (CapabilitiesDisagree, Overloaded) as error:
                reason = error.message
            else:
                info, identity = outcome.info, outcome.identity
                state, reason = (READY, "") if outcome.serving else (NOT_READY, NOT_SERVING)
        observed = replace(current, info=info, identity=identity, state=state, state_reason=reason)
        if observed != current:
            self._put(observed)

    def others(self, info: provisionerpb.GetProvisionerInfoResponse) -> list[Instance]:
        """Give the instances with which an advertisement must agree, and does not."""
        return [
            other
            for other in self._store.all()
            if (other.name, other.info.implementation_version) == (info.name, info.implementation_version)
            and other.state == READY
            and other.info != info
        ]

    def add_static(self, *, name: str, endpoint: str) -> None:
        """List an endpoint of the operator's file, NOT_READY until it was dialled; harmless when it is listed."""
        place = canonical_endpoint(endpoint)
        if any(
            canonical_endpoint(instance.endpoint) == place and instance.state != EXPIRED
            for instance in self._store.all()
        ):
            return
        now = self._clock.now()
        self._put(
            Instance(
                name=name,
                instance_id=f"static:{endpoint}",
                endpoint=endpoint,
                info=provisionerpb.GetProvisionerInfoResponse(name=name),
                state=NOT_READY,
                state_reason="it was not dialled yet",
                identity="",
                register_time=now,
                renew_time=now,
            )
        )

    def notify(self) -> None:
        """Wake the callers that wait for a change: another replica has made one."""
        self._notify()

    def remove(self, instance: Instance) -> None:
        """Forget a static endpoint that is not in the operator's file any more."""
        self._store.remove(instance)
        self._notify()

    def sweep(self) -> None:
        """End leases whose time is over, and forget those that ended long ago."""
        now = self._clock.monotonic()
        for instance in self._store.all():
            if instance.expires is None or now < instance.expires:
                continue
            if now >= instance.expires + EXPIRED_KEPT * self.lease_duration.ttl:
                self._store.remove(instance)
                self._notify()
            elif instance.state != EXPIRED:
                self._put(replace(instance, state=EXPIRED, state_reason="its lease was not renewed in time"))

    def _check_agreement(
        self, info: provisionerpb.GetProvisionerInfoResponse, *, apart_from: Sequence[Instance]
    ) -> None:
        # One that is not called has no say: it may be gone, and its successor would wait for the end of its lease.
        # Should it come back, it has to agree with those that are called by then.
        for other in self.others(info):
            if other in apart_from:
                continue
            differing = differences(info, other.info)
            raise CapabilitiesDisagree(
                f"another instance of this name and version advertises other {', '.join(differing)}; "
                "a changed implementation needs a new version",
                metadata={"differs": ",".join(differing)},
            )

    def _make_room(self, info: provisionerpb.GetProvisionerInfoResponse, *, apart_from: Sequence[Instance]) -> None:
        """Forget instances that have ended until there is room for one more of that name."""
        while True:
            others = [instance for instance in self._store.all() if all(instance is not other for other in apart_from)]
            same = [instance for instance in others if instance.name == info.name]
            name_is_full = len(same) >= MAX_INSTANCES or _size(same) + _size_of(info) > MAX_NAME_LIST
            if not name_is_full and _size(others) + _size_of(info) <= MAX_LIST:
                return
            ended = [instance for instance in (same if name_is_full else others) if instance.state == EXPIRED]
            # An instance that is not reached makes room for another one of its own name, which has just answered.
            ended = ended or [instance for instance in same if instance.state == NOT_READY and not instance.is_static]
            if not ended:
                raise Overloaded(
                    "the registry's list is full: there are too many instances, of this name or of all",
                    metadata={"limit": str(MAX_INSTANCES)},
                    retry_after=self.lease_duration.ttl,
                )
            self._store.remove(min(ended, key=lambda instance: instance.renew_time))

    def _replaced(self, name: str, instance_id: str, endpoint: str) -> list[Instance]:
        key = (name, instance_id)
        place = canonical_endpoint(endpoint)
        return [
            instance
            for instance in self._store.all()
            if (instance.name, instance.instance_id) == key or canonical_endpoint(instance.endpoint) == place
        ]

    def _find(self, instance: Instance) -> Instance | None:
        for entry in self._store.all():
            if (entry.name, entry.instance_id, entry.lease_id) == (
                instance.name,
                instance.instance_id,
                instance.lease_id,
            ):
                return entry
        return None

    def _put(self, instance: Instance) -> None:
        self._store.put(instance)
        self._notify()

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


def _size(instances: Iterable[Instance]) -> int:
    return sum(_size_of(instance.info) for instance in instances)


def _size_of(info: provisionerpb.GetProvisionerInfoResponse) -> int:
    return info.ByteSize() + _BESIDE_INFO
