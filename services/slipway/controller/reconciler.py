"""Brings one config to where it should be: decides from facts, and does what was decided.

The order of writes is such that a controller that is killed between any two of them, and one that takes over, come to
the same result: lock, secrets of the cluster, token in the cluster, payload where there is one, data Secret, status.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from slipway.bootstrapper.documents.own_metadata import slips
from slipway.contract.source_position import path_text
from slipway.controller import conditions
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.conditions import Condition, Type
from slipway.controller.data_secret import Record, controller_reference, preconditions, secret_object
from slipway.controller.decision import Decision, Idle, Paused, Refresh, Release, Render, decide
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt, of_api
from slipway.controller.init_lock import InitLock
from slipway.controller.join_token import JoinToken
from slipway.controller.metrics import Metrics
from slipway.controller.payload_keeper import PayloadKeeper
from slipway.controller.reason_meanings import MEANINGS
from slipway.controller.reasons import Reason
from slipway.controller.rendering import Renderer
from slipway.controller.report import Reporter
from slipway.controller.report_addresses import NO_ROOM
from slipway.controller.timeouts import Timeouts
from slipway.controller.work_budget import REQUEUE_SECONDS, BudgetExceeded
from slipway.controller.workload import Workloads
from slipway.kubernetes_api.failures import AlreadyExists, ApiFailure
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import SECRETS, Json
from slipway.rpc.spans import span
from slipway.v1alpha1 import cluster_pb2 as clusterpb

_log = structlog.get_logger("slipway.controller")


@dataclass(frozen=True, slots=True)
class Next:
    """When to requeue: after so many seconds, with back-off (`failed`), or not before something changes.

    `reason` is why the config cannot go on, "" where it could.
    """

    after: float | None = None
    failed: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Everything that it depends on."""

    objects: Objects
    renderer: Renderer
    reporter: Reporter
    lock: InitLock
    workloads: Workloads
    clock: Callable[[], datetime]
    metrics: Metrics
    timeouts: Timeouts = field(default_factory=Timeouts)
    decide: Callable[[Facts], Decision] = decide

    async def reconcile(self, facts: Facts, *, waited: Callable[[str], float]) -> Next:
        """Do what can be done for a config now, and return when to requeue it.

        Args:
            facts: what is known of it.
            waited: gives for how many seconds it has been waiting for this reason.
        """
        try:
            return await self._advance(facts)
        except ApiFailure as error:
            return await self._halted(facts, of_api(error), waited)
        except Halt as halt:
            return await self._halted(facts, halt, waited)

    async def _advance(self, facts: Facts) -> Next:
        decision = self.decide(facts)
        if isinstance(decision, Idle):
            return Next()
        with span("reconcile", {"namespace": facts.namespace, "machine": facts.name}):
            return await self._act(facts, decision)

    async def _act(self, facts: Facts, decision: Paused | Release | Refresh | Render) -> Next:
        if isinstance(decision, Paused):
            await self.reporter.write(facts, conditions.paused(decision.why, facts.conditions))
            return Next()
        if isinstance(decision, Release):
            metadata = {"annotations": dict.fromkeys(decision.record.annotations()), **preconditions(facts.secret)}
            await self.objects.merge(SECRETS, facts.namespace, facts.name, {"metadata": metadata})
            return Next()
        if isinstance(decision, Refresh):
            return await self._refresh(facts, decision)
        return await self._render(facts, decision)

    async def _render(self, facts: Facts, decision: Render) -> Next:
        owner, cluster = facts.owner, facts.cluster
        if owner is None or cluster is None:
            raise AssertionError("decided before")
        names = "; ".join(f"metadata.{path_text(path)}: {message}" for path, message in slips(facts.config["metadata"]))
        if names:
            await self.reporter.doubt(facts, Reason.METADATA_UNKNOWN, names)
        if decision.needs_lock:
            await self.lock.take(cluster, owner.name, now=self.clock())
        try:
            rendered = await self.renderer.render(facts, decision)
        except BudgetExceeded:
            return Next(after=REQUEUE_SECONDS)
        except Halt as halt:
            if decision.needs_lock and halt.refused:
                # Another machine may be able to begin the cluster.
                await self.lock.free(cluster, owner.name)
            raise
        if rendered.token:
            await self._ensure_token(cluster, rendered.token)
        payload = rendered.payload
        if payload is not None and self.renderer.payloads is not None:
            with span("store payload"):
                await self.renderer.payloads.store(payload, namespace=facts.namespace)
        record = Record.of_answer(
            rendered.answer,
            generation=facts.generation,
            rotation=decision.rotation,
            role=clusterpb.Role.Name(decision.role).removeprefix("ROLE_"),
            token=rendered.token is not None,
            engine=rendered.engine,
            no_room=rendered.no_room,
            payload="" if payload is None else payload.url,
            config_uid=facts.uid,
        )
        body = secret_object(
            facts,
            cluster=cluster.name,
            data=rendered.answer.user_data,
            secret_format=rendered.answer.secret_format,
            record=record,
        )
        with span("write data Secret"):
            await self._store(facts, body, replaces=decision.replaces is not None)
        self.metrics.renders += 1
        await self.reporter.write(facts, conditions.ready(), record=record)
        if record.no_room:
            await self.reporter.warn(facts, Reason.NO_ROOM_FOR_ADDRESS, NO_ROOM)
        _log.info(
            "user data stored",
            config=f"{facts.namespace}/{facts.name}",
            owner=f"{owner.kind}/{owner.name}",
            provisioner=record.provisioner,
            format=record.format,
            bytes=record.size,
        )
        return Next(after=self.timeouts.requeue_after) if rendered.token else Next()

    async def _store(self, facts: Facts, body: Json, *, replaces: bool) -> None:
        if replaces:
            # The Secret's name stays; what the pool's machines to come need is replaced as a whole.
            # Where it was changed since we looked, the next look decides anew.
            body["metadata"] |= preconditions(facts.secret)
            await self.objects.replace(SECRETS, facts.namespace, body)
            return
        try:
            await self.objects.create(SECRETS, facts.namespace, body)
        except AlreadyExists:
            secret = await self.objects.get(SECRETS, facts.namespace, facts.name)
            controller = next((owner for owner in _owners(secret) if owner.get("controller")), {})
            if controller.get("uid") != facts.uid:
                raise Halt(Reason.DATA_SECRET_TAKEN, f"the Secret {facts.name} exists and has another owner") from None
            await self._drop_payload(body, kept=secret)

    async def _drop_payload(self, body: Json, *, kept: Json) -> None:
        """Delete the payload of a Secret that was not written, since another process had written one before."""
        made, stored = Record.of_secret(body), Record.of_secret(kept)
        is_other = made is not None and made.payload and (stored is None or stored.payload != made.payload)
        if made is not None and is_other and self.renderer.payloads is not None:
            await self.renderer.payloads.delete(made.payload, namespace=body["metadata"]["namespace"])

    async def _refresh(self, facts: Facts, decision: Refresh) -> Next:
        keeper = PayloadKeeper(self.objects, self.renderer.payloads, self.clock, self.timeouts, self.reporter)
        await keeper.check(facts, decision.record)
        following = await self._refresh_token(facts, decision)
        after = await keeper.keep(facts, decision.record)
        times = [seconds for seconds in (following.after, after) if seconds is not None]
        return replace(following, after=min(times) if times else None)

    async def _refresh_token(self, facts: Facts, decision: Refresh) -> Next:
        owner, cluster = facts.owner, facts.cluster
        if owner is None or cluster is None:
            raise AssertionError("decided before")
        record = decision.record
        if decision.adopt:
            patch = {"metadata": {"ownerReferences": [controller_reference(facts)], **preconditions(facts.secret)}}
            await self.objects.merge(SECRETS, facts.namespace, facts.name, patch)
        if record.role == _INIT and cluster.control_plane_initialized:
            await self.lock.free_once(cluster, owner.name)
        if not record.token or (owner.joined and not owner.is_pool):
            await self.reporter.write(facts, conditions.ready(), record=record)
            return Next()
        if not cluster.control_plane_initialized:
            await self.reporter.write(facts, conditions.ready(), record=record)
            return Next()
        if not owner.is_pool and self._age(facts) > self.timeouts.give_up:
            await self.reporter.write(facts, _given_up(), record=record)
            return Next()
        if not facts.reported or facts.held:
            # The machine must not wait for a refresh.
            await self.reporter.write(facts, conditions.ready(), record=record)
        role = clusterpb.Role.Value(f"ROLE_{record.role}")
        token = await self.renderer.token_of(facts, cluster, role, record)
        if owner.is_pool and owner.joined:
            return await self._rotate(facts, cluster, record, token)
        await self._ensure_token(cluster, token, expected=True)
        await self.reporter.write(facts, conditions.ready(), record=record)
        return Next(after=self.timeouts.requeue_after)

    async def _rotate(self, facts: Facts, cluster: ClusterObject, record: Record, token: JoinToken) -> Next:
        """Give a pool whose machines have all joined a new token, when half of the old one's time is over."""
        until = await self.workloads.token_expiry(cluster.namespace, cluster.name, token)
        remaining = until - self.clock() if until is not None else timedelta(0)
        if remaining > self.timeouts.token_ttl / 2:
            await self.reporter.write(facts, conditions.ready(), record=record)
            return Next(after=max((remaining - self.timeouts.token_ttl / 2).total_seconds(), 1.0))
        decision = Render(clusterpb.ROLE_WORKER, rotation=record.rotation + 1, replaces=record)
        return await self._render(facts, decision)

    async def _ensure_token(self, cluster: ClusterObject, token: JoinToken, *, expected: bool = False) -> None:
        await self.workloads.ensure_token(
            cluster.namespace,
            cluster.name,
            token,
            ttl=self.timeouts.token_ttl,
            now=self.clock(),
            expected=expected,
        )

    def _age(self, facts: Facts) -> timedelta:
        created = (facts.secret or {}).get("metadata", {}).get("creationTimestamp")
        return self.clock() - datetime.fromisoformat(created) if created else timedelta(0)

    async def _halted(self, facts: Facts, halt: Halt, waited: Callable[[str], float]) -> Next:
        self.metrics.halts[halt.reason] = self.metrics.halts.get(halt.reason, 0) + 1
        remaining = self.timeouts.quiet_seconds * _PATIENCE.get(halt.reason, 1) - waited(halt.reason)
        quiet = not halt.refused and not facts.is_reported and remaining > 0
        if not quiet:
            await self._report_halt(facts, halt)
        if halt.retry:
            return Next(failed=True, reason=halt.reason)
        times = [seconds for seconds in (halt.after, remaining if quiet else None) if seconds is not None]
        return Next(after=min(times) if times else None, reason=halt.reason)

    async def _report_halt(self, facts: Facts, halt: Halt) -> None:
        if facts.secret is not None and Record.of_secret(facts.secret) is not None and facts.reported:
            # The machine has its user data; what is in the way is the upkeep of its token, or a new render of a pool.
            updates = [
                Condition(Type.READY, "False", halt.reason, halt.message),
                *conditions.ready()[1:],
            ]
        else:
            updates = conditions.halted(halt.reason, halt.message, type_=halt.type, known=_known(halt))
        try:
            wrote = await self.reporter.write(facts, updates)
        except ApiFailure as error:
            _log.warning("status not written", failure=type(error).__name__, reason=halt.reason)
            return
        if halt.refused:
            await self.reporter.warn(facts, halt.reason, halt.message)
        if wrote:
            _log.info("halted", config=f"{facts.namespace}/{facts.name}", reason=halt.reason)


_INIT = "INIT"
_PATIENCE = {Reason.WAITING_FOR_OWNER.value: 6, Reason.WAITING_FOR_CLUSTER.value: 6}
"""Delay of a status for what Cluster API's core does by itself in a moment: each status is a call."""


def _known(halt: Halt) -> tuple[Type, ...]:
    return (Type.CERTIFICATES, Type.PROVISIONER) if halt.reason in _AFTER_RENDER else ()


_AFTER_RENDER = {
    Reason.WAITING_FOR_KUBECONFIG.value,
    Reason.WORKLOAD_UNREACHABLE.value,
    Reason.KUBECONFIG_REFUSED.value,
    Reason.TOKEN_TAKEN.value,
    Reason.DATA_SECRET_TAKEN.value,
}


def _given_up() -> list[Condition]:
    message = MEANINGS[Reason.TOKEN_GIVEN_UP].meaning
    return [Condition(Type.READY, "False", Reason.TOKEN_GIVEN_UP, message), *conditions.ready()[1:]]


def _owners(secret: Json) -> list[Json]:
    return list(secret["metadata"].get("ownerReferences") or ())
