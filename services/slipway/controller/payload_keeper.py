"""How long a payload is kept: until its machine is complete, and never longer than the machine's token."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.controller.data_secret import NODE_SEEN, PAYLOAD, Record, preconditions
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.payloads import MOST_FETCHES, Payloads
from slipway.controller.reasons import Reason
from slipway.controller.report import Reporter
from slipway.controller.timeouts import Timeouts
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import SECRETS
from slipway.v1alpha1 import report_service_pb2 as reportspb


@dataclass(frozen=True, slots=True)
class PayloadKeeper:
    """Looks after the payload of a machine that has its data Secret."""

    objects: Objects
    payloads: Payloads | None
    clock: Callable[[], datetime]
    timeouts: Timeouts
    reporter: Reporter

    async def check(self, facts: Facts, record: Record) -> None:
        """Check that a machine which has not joined can still fetch its user data.

        Raises:
            Halt: they are at an address that is not this controller's, or are not in its store after a move; or the
                store failed.
        """
        if not record.payload or (facts.owner is not None and facts.owner.joined):
            return
        if self.payloads is None or not self.payloads.is_own(record.payload):
            raise Halt(Reason.PAYLOAD_ELSEWHERE)
        if not record.is_of_another(facts.uid):
            return
        # The address is the same where both management clusters have a gateway of that name, each with its own store.
        if not await self.payloads.has(record.payload, namespace=facts.namespace):
            raise Halt(Reason.PAYLOAD_ELSEWHERE)

    async def keep(self, facts: Facts, record: Record) -> float | None:
        """Delete a payload that is not needed any more; give the seconds until then, None for no payload.

        Raises:
            Halt: the store failed.
        """
        if self.payloads is None or not record.payload or not self.payloads.is_own(record.payload):
            return None
        peers = await self.payloads.fetches(record.payload, namespace=facts.namespace)
        if len(peers) > 1:
            await self.reporter.warn(facts, Reason.PAYLOAD_FETCHED_AGAIN, _repeated(peers))
        remaining = await self._remaining(facts, record)
        if remaining > timedelta(0):
            return remaining.total_seconds()
        await self.payloads.delete(record.payload, namespace=facts.namespace)
        await self._annotate(facts, {PAYLOAD: None, NODE_SEEN: None})
        return None

    async def _remaining(self, facts: Facts, record: Record) -> timedelta:
        metadata = (facts.secret or {}).get("metadata") or {}
        created, seen = metadata.get("creationTimestamp"), (metadata.get("annotations") or {}).get(NODE_SEEN)
        now = self.clock()
        remaining = self.timeouts.give_up - (now - datetime.fromisoformat(created) if created else timedelta(0))
        if facts.owner is None or not facts.owner.joined:
            return remaining
        if _is_complete(facts, record):
            return timedelta(0)
        if seen is None:
            await self._annotate(facts, {NODE_SEEN: now.isoformat()})
            return min(remaining, self.timeouts.payload_grace)
        return min(remaining, self.timeouts.payload_grace - (now - datetime.fromisoformat(seen)))

    async def _annotate(self, facts: Facts, annotations: dict[str, str | None]) -> None:
        patch = {"metadata": {"annotations": annotations, **preconditions(facts.secret)}}
        await self.objects.merge(SECRETS, facts.namespace, facts.name, patch)


def _repeated(peers: list[str]) -> str:
    count = f"at least {MOST_FETCHES}" if len(peers) >= MOST_FETCHES else str(len(peers))
    return f"the payload was fetched {count} times, from {', '.join(sorted(set(peers)))}"


def _is_complete(facts: Facts, record: Record) -> bool:
    """Whether the machine reported its end. A report alone decides nothing: it counts only where the node is there."""
    report = facts.report
    if report is None or report.bundle_id != record.bundle_id:
        return False
    return report.state == reportspb.REPORT_STATE_COMPLETE
