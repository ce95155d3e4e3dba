"""What Slipway says of an opted-in KubeadmConfig: types and reasons of conditions are those of the kubeadm provider.

The provider writes into the same status, its condition `Paused` for one. So a status is a merge patch that counts only
for the version that was read, and it is written only while the object is held; then the pause is taken away, which is
the event that wakes Cluster API's core.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from slipway.controller import ownership
from slipway.controller.bootstrap_condition import bootstrap_condition
from slipway.controller.conditions import LONGEST_MESSAGE, Condition, Type, written
from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.reason_meanings import MEANINGS
from slipway.controller.reasons import Reason
from slipway.controller.report import Reporter
from slipway.kubernetes_api.failures import Conflict, NotFound
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, Json

_TRIES = 5
_READY = {"True": "Ready", "False": "NotReady", "Unknown": "ReadyUnknown"}
_NOT_AVAILABLE = "NotAvailable"
_INTERNAL_ERROR = "InternalError"


class OptedInReporter(Reporter):
    """Writes statuses of KubeadmConfigs, and hands the objects over when they are done."""

    def __init__(self, objects: Objects, clock: Callable[[], datetime], *, reports: bool = False) -> None:
        """Write by an API; with `reports` also what is known of machines' bootstraps, as events."""
        super().__init__(objects, clock, reports=reports)
        self._done: set[str] = set()

    async def write(self, facts: Facts, conditions: Sequence[Condition], *, record: Record | None = None) -> bool:
        """Write the status, then take the pause away if `record` describes the data Secret; see Reporter.

        Raises:
            ApiFailure: a call failed; an object that is gone meanwhile, or handed back, is no failure.
        """
        if not facts.held:
            self._done.discard(facts.uid)
        elif facts.uid in self._done:
            # What was read of the object is older than what was done with it.
            return False
        try:
            return await self._write(facts, conditions, record)
        except NotFound:
            return False

    async def _write(self, facts: Facts, conditions: Sequence[Condition], record: Record | None) -> bool:
        for _ in range(_TRIES):
            if not facts.held:
                return await self._warn_of_upkeep(facts, conditions)
            try:
                wrote = await self._write_status(facts, conditions, created=record is not None)
                if record is not None:
                    await self._hand_over(facts)
                    self._done.add(facts.uid)
            except Conflict:
                facts = await self._read_again(facts)
            else:
                return wrote or record is not None
        raise Conflict("PATCH", KUBEADM_CONFIGS.kind, facts.name)

    async def _read_again(self, facts: Facts) -> Facts:
        """Give the facts with the object as it is now.

        Raises:
            NotFound: it is gone, or another one of its name is there.
        """
        config = await self.objects.get(KUBEADM_CONFIGS, facts.namespace, facts.name)
        if config["metadata"]["uid"] != facts.uid:
            raise NotFound("GET", KUBEADM_CONFIGS.kind, facts.name)
        return replace(facts, config=config)

    def forget(self, uid: str) -> None:
        """Forget an object that is gone."""
        super().forget(uid)
        self._done.discard(uid)

    async def _warn_of_upkeep(self, facts: Facts, conditions: Sequence[Condition]) -> bool:
        """Report by an event what the status of an object that is not held any more cannot show."""
        for condition in conditions:
            if condition.type is Type.READY and condition.reason == Reason.TOKEN_GIVEN_UP:
                await self.warn(facts, condition.reason, condition.message)
        bootstrap = bootstrap_condition(facts, None, {}) if self.reports else None
        # A Node that joined stands in the Machine already.
        if bootstrap is not None and bootstrap.status != "Unknown" and bootstrap.reason != Reason.NODE_JOINED:
            await self.report_end(facts, bootstrap)
        return False

    async def _write_status(self, facts: Facts, conditions: Sequence[Condition], *, created: bool) -> bool:
        before = facts.conditions
        conditions_now = written(foreign(conditions), before, generation=facts.generation, now=self.now())
        kept = [entry for entry in before if entry["type"] not in {each["type"] for each in conditions_now}]
        status: Json = {"conditions": _sorted([*kept, *conditions_now])}
        if created:
            status |= {"initialization": {"dataSecretCreated": True}, "dataSecretName": facts.name}
        current = {key: facts.status.get(key) for key in status} | {"conditions": _sorted(before)}
        if current == status:
            return False
        status["observedGeneration"] = facts.generation
        identity = {key: facts.config["metadata"][key] for key in ("uid", "resourceVersion")}
        patch = {"metadata": identity, "status": status}
        await self.objects.merge(KUBEADM_CONFIGS, facts.namespace, facts.name, patch, subresource="status")
        return True

    async def _hand_over(self, facts: Facts) -> None:
        """Take the pause away: the kubeadm provider finds everything done, and core hears of the data Secret."""
        patch = {"metadata": {"uid": facts.uid, "annotations": {ownership.PAUSED: None}}}
        await self.objects.merge(KUBEADM_CONFIGS, facts.namespace, facts.name, patch)


def foreign(conditions: Sequence[Condition]) -> list[Condition]:
    """Give our conditions with the types and reasons of the kubeadm provider.

    What it waits for as well has its reason, with ours in the message; what it does not know has ours.
    """
    result: list[Condition] = []
    for condition in conditions:
        if condition.type is Type.DATA_SECRET:
            result.append(_data_secret(condition))
        elif condition.type is Type.CERTIFICATES and condition.status == "True":
            result.append(condition)
        elif condition.type is Type.CERTIFICATES and condition.reason != Reason.NOT_KNOWN:
            result.append(replace(condition, status="Unknown", reason=_INTERNAL_ERROR, message=_named(condition)))
    ready = next((condition for condition in conditions if condition.type is Type.READY), None)
    if ready is None:
        return result
    issues = "\n".join(f"* {entry.type.value}: {entry.message}" for entry in result if entry.status != "True")
    if ready.status == "True":
        issues = ""
    return [replace(ready, reason=_READY[ready.status], message=issues[:LONGEST_MESSAGE]), *result]


def _sorted(conditions: Sequence[Json]) -> list[Json]:
    return sorted(conditions, key=lambda condition: str(condition["type"]))


def _data_secret(condition: Condition) -> Condition:
    if condition.status == "True":
        return condition
    return replace(
        condition, reason=_NOT_AVAILABLE if _waits(condition.reason) else condition.reason, message=_named(condition)
    )


def _waits(reason: str) -> bool:
    known = {each.value: meaning for each, meaning in MEANINGS.items()}
    return reason in known and known[reason].waits


def _named(condition: Condition) -> str:
    return f"{condition.reason}: {condition.message}"[:LONGEST_MESSAGE]
