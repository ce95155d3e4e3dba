"""What the controller reports about a config: its status, and Warning events for what a user must change."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import structlog

from slipway.controller.bootstrap_condition import bootstrap_condition, end_of
from slipway.controller.conditions import Condition, Type, written
from slipway.controller.data_secret import Record
from slipway.controller.facts import Facts
from slipway.controller.membership_account import account_conditions
from slipway.controller.report_addresses import address_conditions
from slipway.kubernetes_api.failures import AlreadyExists, ApiFailure, Conflict, NotFound
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import EVENTS, MACHINES, SLIPWAY_CONFIGS, Json
from slipway.rpc.spans import span

MANAGER = "slipway-controller"
_MOST_REMEMBERED = 10_000
_log = structlog.get_logger("slipway.controller")


class Reporter:
    """Writes statuses and events, each only when it says something new."""

    def __init__(
        self, objects: Objects, clock: Callable[[], datetime], *, reports: bool = False, component: str = MANAGER
    ) -> None:
        """Write by an API.

        Args:
            objects: the API.
            clock: gives the time.
            reports: also write what is known of machines' bootstraps.
            component: the program that events name.
        """
        self.objects = objects
        self.reports = reports
        self._component = component
        self._clock = clock
        self._last: dict[str, Json] = {}
        self._warned: dict[str, tuple[str, str]] = {}
        self._doubted: dict[str, str] = {}
        self._bootstraps: dict[str, tuple[str, str, str]] = {}

    async def write(self, facts: Facts, conditions: Sequence[Condition], *, record: Record | None = None) -> bool:
        """Write the status, if it is not the same already; `record` describes the data Secret. Return whether it wrote.

        Raises:
            ApiFailure: the call failed; a config that is gone meanwhile is no failure.
        """
        before = self._last.get(facts.uid) or facts.status
        if self.reports:
            conditions = await self._with_bootstrap(facts, conditions, record, before)
        conditions = [*conditions, *account_conditions(facts, conditions)]
        conditions += address_conditions(facts, record, conditions)
        status: Json = {
            "observedGeneration": facts.generation,
            "conditions": written(
                conditions, before.get("conditions") or (), generation=facts.generation, now=self.now()
            ),
        }
        if record is not None:
            status |= _created(facts, record)
        elif facts.reported:
            status |= {key: before[key] for key in _CREATED if key in before}
        if status == before:
            return False
        body = {
            "apiVersion": SLIPWAY_CONFIGS.api_version,
            "kind": SLIPWAY_CONFIGS.kind,
            "metadata": {"name": facts.name, "namespace": facts.namespace, "uid": facts.uid},
            "status": status,
        }
        try:
            with span("write status"):
                await self.objects.apply_status(SLIPWAY_CONFIGS, facts.namespace, body, manager=MANAGER)
        except (NotFound, Conflict):
            # It is gone, or another one of that name is there, which has a look of its own.
            return False
        self._last[facts.uid] = status
        return True

    async def _with_bootstrap(
        self, facts: Facts, conditions: Sequence[Condition], record: Record | None, before: Json
    ) -> list[Condition]:
        """Add what is known of the bootstrap; a failure is an event before the status has it."""
        others = [condition for condition in conditions if condition.type is not Type.BOOTSTRAP]
        bootstrap = bootstrap_condition(facts, record, before)
        if bootstrap is None:
            return others
        conditions_before = before.get("conditions") or ()
        earlier = {end_of(item["status"], item["reason"], item.get("message", "")) for item in conditions_before}
        if bootstrap.status == "False" and _end(bootstrap) not in earlier:
            await self.report_end(facts, bootstrap)
        return [*others, bootstrap]

    async def report_end(self, facts: Facts, bootstrap: Condition) -> None:
        """Write an event on the Machine with how its bootstrap ended, once: a Warning where it failed."""
        owner = facts.owner
        if owner is None or self._bootstraps.get(facts.uid) == _end(bootstrap):
            return
        if len(self._bootstraps) >= _MOST_REMEMBERED:
            self._bootstraps.clear()
        self._bootstraps[facts.uid] = _end(bootstrap)
        # The name of the event does not depend on what its logs show, which comes later: there is one for each end.
        event = self._event(facts, bootstrap.reason, f"bootstrap: {_end(bootstrap)[2]}", since="")
        event["message"] = f"bootstrap: {bootstrap.message}"[:1024]
        event["involvedObject"] = {
            "apiVersion": MACHINES.api_version,
            "kind": MACHINES.kind,
            "name": owner.name,
            "namespace": facts.namespace,
            "uid": owner.uid,
        }
        event["type"] = "Normal" if bootstrap.status == "True" else "Warning"
        await self._create(facts, event)

    async def warn(self, facts: Facts, reason: str, message: str) -> None:
        """Report by an event what a user must change, once for each reason and message.

        The process before this one may have reported the same: the name of the first event is the same every time, so
        that the API server keeps one of them.
        """
        before = self._warned.get(facts.uid)
        if before == (reason, message):
            return
        since = self.now() if before else ""
        if len(self._warned) >= _MOST_REMEMBERED:
            self._warned.clear()
        self._warned[facts.uid] = (reason, message)
        await self._create(facts, self._event(facts, reason, message, since=since))

    async def doubt(self, facts: Facts, reason: str, message: str) -> None:
        """Report by an event what may be a mistake, once for each message, whatever else is reported of the config."""
        if self._doubted.get(facts.uid) == message:
            return
        if len(self._doubted) >= _MOST_REMEMBERED:
            self._doubted.clear()
        self._doubted[facts.uid] = message
        await self._create(facts, self._event(facts, reason, message, since=""))

    async def _create(self, facts: Facts, event: Json) -> None:
        try:
            await self.objects.create(EVENTS, facts.namespace, event)
        except AlreadyExists:
            pass
        except ApiFailure as error:
            _log.info("event not written", failure=type(error).__name__)

    def forget(self, uid: str) -> None:
        """Forget a config that is gone."""
        self._last.pop(uid, None)
        self._warned.pop(uid, None)
        self._doubted.pop(uid, None)
        self._bootstraps.pop(uid, None)

    def _event(self, facts: Facts, reason: str, message: str, *, since: str) -> Json:
        now = self.now()
        digest = hashlib.sha256(f"{facts.uid}\0{reason}\0{message}\0{since}".encode()).hexdigest()[:16]
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": f"{facts.name[:200]}.{digest}", "namespace": facts.namespace},
            "involvedObject": {
                "apiVersion": facts.resource.api_version,
                "kind": facts.resource.kind,
                "name": facts.name,
                "namespace": facts.namespace,
                "uid": facts.uid,
            },
            "type": "Warning",
            "reason": reason,
            "message": message[:1024],
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }

    def now(self) -> str:
        """Give the time as objects have it."""
        return self._clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


_CREATED = ("initialization", "dataSecretName", "ready", "provisioner", "userDataBytes", "bundleId")


def _end(bootstrap: Condition) -> tuple[str, str, str]:
    return end_of(bootstrap.status, bootstrap.reason, bootstrap.message)


def _created(facts: Facts, record: Record) -> Json:
    return {
        "initialization": {"dataSecretCreated": True},
        "dataSecretName": facts.name,
        "ready": True,
        "provisioner": {"name": record.provisioner, "version": record.version, "format": record.format},
        "userDataBytes": record.size,
        "bundleId": record.bundle_id,
    }
