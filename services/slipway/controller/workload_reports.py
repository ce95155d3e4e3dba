"""Reports that machines write into their own clusters: read there, for as long as machines wait to join.

A Node can write the object of its own name only, and a bootstrap token that of its id. What stands in one is a hint,
like every report: each field has its grammar, and it counts for the machine whose bundle it names.

What a cluster answers, and when, is in the hands of its tenant. So what is kept of it is bounded, and each cluster is
read by itself, in its turn (cluster_visits.py).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby

from slipway.controller.cluster_visits import ClusterVisits, Place
from slipway.controller.machine_report import MachineReport
from slipway.controller.read_texts import ReadTexts, digest_of
from slipway.controller.report_forwarding import ReportForwarding
from slipway.controller.workload import Connected, Workloads
from slipway.diagnosis.bootstrap_events import events_of
from slipway.diagnosis.log_files import Log
from slipway.kubernetes_api.resources import CONFIG_MAPS, Json
from slipway.reports.summary import merged, summary
from slipway.v1alpha1 import report_service_pb2 as reportspb

NAMESPACE = "slipway-reports"
KEY = "events"
MOST = 1000
"""Objects of a cluster that are read."""

_LONGEST = 8192
"""Bytes of a text in UTF-8."""

_PAGE = 50
"""A page of such objects is well below what a workload cluster may answer."""

_LOOK_SECONDS = 5.0
_ANSWER_SECONDS = 5.0
"""For each page."""

_KEPT = timedelta(days=1)
"""How long an object stays that is of no Machine."""


@dataclass(frozen=True, slots=True)
class ReportingMachine:
    """A Machine whose config has it report to its own cluster.

    Attributes:
        namespace: of the Machine.
        cluster: name of its cluster.
        name: of the Machine.
        bundle_id: the bundle that it executes.
        joined: its Node is there, which says more than any report.
    """

    namespace: str
    cluster: str
    name: str
    bundle_id: str
    joined: bool


@dataclass(slots=True)
class _Cluster:
    """What is known of a cluster: the report of each bundle that a Machine has."""

    reports: dict[str, MachineReport] = field(default_factory=dict)
    bundles: frozenset[str] = frozenset()


class WorkloadReports:
    """The last report of each machine that reports to its own cluster."""

    def __init__(
        self,
        workloads: Workloads,
        machines: Callable[[], Iterable[ReportingMachine]],
        clock: Callable[[], datetime],
        forwarding: ReportForwarding | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Read the clusters of the machines that there are; `changed` gets each with news, `forwarding` the text."""
        self.changed: Callable[[str, str], None] = lambda _namespace, _machine: None
        self._machines = machines
        self._clock = clock
        self._forwarding = forwarding
        self._visits = ClusterVisits(workloads, _Cluster, work="reports", monotonic=monotonic)
        self._bundles: dict[tuple[str, str, str], str] = {}
        self._waiting: set[Place] = set()
        self._texts: ReadTexts[Place] = ReadTexts()

    def get(self, namespace: str, cluster: str, machine: str) -> MachineReport | None:
        """Give the last report of a machine; None where none is known."""
        known = self._visits.state((namespace, cluster))
        return None if known is None else known.reports.get(self._bundles.get((namespace, cluster, machine), ""))

    async def run(self) -> None:
        """Read until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._visits.repeat(self.look, seconds=_LOOK_SECONDS))
            if self._forwarding is not None:
                tasks.create_task(self._forwarding.run())

    async def look(self) -> None:
        """Read each cluster once in which a machine waits to join, and once more when no machine does any longer.

        After a while, the clusters that have not answered are left to answer in the background.
        """
        clusters: dict[Place, list[ReportingMachine]] = {}
        for machine in self._machines():
            clusters.setdefault((machine.namespace, machine.cluster), []).append(machine)
        self._waiting = {place for place, machines in clusters.items() if not all(each.joined for each in machines)}
        self._bundles = {
            (machine.namespace, machine.cluster, machine.name): machine.bundle_id
            for machines in clusters.values()
            for machine in machines
        }
        for place in self._waiting | self._visits.places():
            bundles = {machine.bundle_id: machine for machine in clusters.get(place, [])}
            visit = partial(self._take, place=place, machines=bundles)
            if not self._visits.start(place, visit, ended=partial(self._forget_unless_waiting, place)):
                self._forget_unless_waiting(place)
        await self._visits.wait(seconds=_LOOK_SECONDS)

    def _forget_unless_waiting(self, place: Place) -> None:
        if place not in self._waiting and not self._visits.is_visited(place):
            self._visits.forget(place)
            self._texts.retain(place, ())

    async def _take(
        self, connected: Connected, known: _Cluster, *, place: Place, machines: Mapping[str, ReportingMachine]
    ) -> None:
        if not machines.keys() <= known.bundles:
            # What was read may hold a report of a machine that was not known then.
            self._texts.retain(place, ())
        known.bundles = frozenset(machines)
        known.reports = {bundle: report for bundle, report in known.reports.items() if bundle in machines}
        reports: dict[str, MachineReport] = {}
        seen: set[bytes] = set()
        try:
            async for objects in _pages(connected):
                seen.update(item.digest for item in objects)
                new = {item.text for item in objects if self._texts.get(place, item.digest) is None}
                read = await asyncio.to_thread(_read_all, new)
                for item in objects:
                    bundles = self._texts.get(place, item.digest)
                    if bundles is None:
                        own = {
                            machines[key].bundle_id: value for key, value in read[item.text].items() if key in machines
                        }
                        # A machine that joins has two objects: that of its token, and then that of its Node.
                        newer = {
                            bundle: report
                            for bundle, report in own.items()
                            if not report.precedes(reports.get(bundle) or known.reports.get(bundle))
                        }
                        reports |= newer
                        if not self._forward(item.text, [machines[bundle] for bundle in newer]):
                            # There is no room yet: it is read again.
                            continue
                        self._texts.keep(place, item.digest, own)
                        bundles = tuple(own)
                    is_old = self._clock() - item.created > _KEPT
                    if all(machines[bundle].joined for bundle in bundles) if bundles else is_old:
                        await connected.delete(CONFIG_MAPS, NAMESPACE, item.name, preconditions={"uid": item.uid})
            self._texts.retain(place, seen)
        finally:
            before, known.reports = known.reports, known.reports | reports
            for bundle, report in reports.items():
                if before.get(bundle) != report:
                    self.changed(machines[bundle].namespace, machines[bundle].name)

    def _forward(self, text: str, machines: Iterable[ReportingMachine]) -> bool:
        if self._forwarding is None:
            return True
        has_room = True
        for machine in machines:
            place = reportspb.ReportedMachine(namespace=machine.namespace, cluster=machine.cluster, name=machine.name)
            has_room &= self._forwarding.take(place, machine.bundle_id, text)
        return has_room


def _read_all(texts: Iterable[str]) -> dict[str, dict[str, MachineReport]]:
    return {text: reports_of(text) for text in texts}


def reports_of(text: str) -> dict[str, MachineReport]:
    """Give what a text reports, by the id of the bundle; nothing where it holds no event."""
    events = sorted((event.message for event in events_of([Log("", text)])), key=lambda event: event.bundle_id)
    reports = {}
    for bundle_id, own in groupby(events, key=lambda event: event.bundle_id):
        every = merged(own)
        short = summary(every)
        report = reportspb.Report(bundle_id=bundle_id)
        report.sources.add(
            source=reportspb.REPORT_SOURCE_SINK,
            state=short.state,
            phase=short.phase,
            step=short.step,
            exit_code=short.exit_code,
            reason=short.reason,
        )
        read = MachineReport.of(report)
        if read is not None:
            reports[bundle_id] = replace(read, sequence=max(event.sequence for event in every))
    return reports


@dataclass(frozen=True, slots=True)
class _Object:
    name: str
    uid: str
    text: str
    digest: bytes
    created: datetime


async def _pages(connected: Connected) -> AsyncIterator[list[_Object]]:
    """Read the objects, a page at a time; what has another shape, or is too long, is left out."""
    token, room = "", MOST
    while room > 0:
        async with asyncio.timeout(_ANSWER_SECONDS):
            items, token = await connected.page(CONFIG_MAPS, NAMESPACE, size=_PAGE, token=token)
        yield [item for item in map(_object, items[:room]) if item is not None]
        room -= len(items)
        if not token or not items:
            break


def _object(item: Json) -> _Object | None:
    metadata, data = item["metadata"], item.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    if not isinstance(text, str) or len(text.encode(errors="surrogatepass")) > _LONGEST:
        return None
    try:
        created = datetime.fromisoformat(metadata.get("creationTimestamp"))
    except (TypeError, ValueError):
        return None
    if created.tzinfo is None:
        return None
    return _Object(metadata["name"], metadata["uid"], text, digest_of(text), created)
