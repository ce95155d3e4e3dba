"""Reports that machines write into their own clusters: read there, for as long as machines wait to join.

A Node can write the object of its own name only, and a bootstrap token that of its id. What stands in one is a hint,
like every report: each field has its grammar, and it counts for the machine whose bundle it names.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import groupby

import structlog

from slipway.controller.halt import Halt
from slipway.controller.machine_report import MachineReport
from slipway.controller.report_forwarding import ReportForwarding
from slipway.controller.workload import Connected, Workloads
from slipway.diagnosis.bootstrap_events import events_of
from slipway.diagnosis.log_files import Log
from slipway.kubernetes_api.failures import ApiFailure
from slipway.kubernetes_api.resources import CONFIG_MAPS, Json
from slipway.reports.summary import merged, summary
from slipway.rpc.error_mapping import describe_exception
from slipway.v1alpha1 import report_service_pb2 as reportspb

NAMESPACE = "slipway-reports"
KEY = "events"
MOST = 1000
"""Objects of a cluster that are read."""

_LONGEST = 8192
_PAGE = 50
"""A page of such objects is well below what a workload cluster may answer."""

_LOOK_SECONDS = 5.0
_CLUSTERS = 4
"""Clusters that are read at a time."""

_CLUSTER_SECONDS = 30.0
_KEPT = timedelta(days=1)
"""How long an object stays that is of no Machine."""

_Place = tuple[str, str]
_log = structlog.get_logger("slipway.controller")


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
    """What is known of a cluster: reports by bundle, and by the text in which each was read."""

    reports: dict[str, MachineReport] = field(default_factory=dict)
    texts: dict[str, dict[str, MachineReport]] = field(default_factory=dict)
    problem: str = ""


class WorkloadReports:
    """The last report of each machine that reports to its own cluster."""

    def __init__(
        self,
        workloads: Workloads,
        machines: Callable[[], Iterable[ReportingMachine]],
        clock: Callable[[], datetime],
        forwarding: ReportForwarding | None = None,
    ) -> None:
        """Read the clusters of the machines that there are; `changed` gets each with news, `forwarding` the text."""
        self.changed: Callable[[str, str], None] = lambda _namespace, _machine: None
        self._workloads = workloads
        self._machines = machines
        self._clock = clock
        self._forwarding = forwarding
        self._clusters: dict[_Place, _Cluster] = {}
        self._bundles: dict[tuple[str, str, str], str] = {}
        self._turn = asyncio.Semaphore(_CLUSTERS)

    def get(self, namespace: str, cluster: str, machine: str) -> MachineReport | None:
        """Give the last report of a machine; None where none is known."""
        known = self._clusters.get((namespace, cluster))
        return None if known is None else known.reports.get(self._bundles.get((namespace, cluster, machine), ""))

    async def run(self) -> None:
        """Read until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._look_again_and_again())
            if self._forwarding is not None:
                tasks.create_task(self._forwarding.run())

    async def _look_again_and_again(self) -> None:
        while True:
            try:
                await self.look()
            except Exception as error:  # noqa: BLE001  # a defect here must not end the controller
                _log.error("reading of reports failed, begun anew", **describe_exception(error))
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> None:
        """Read each cluster once in which a machine waits to join, and once more when no machine does any longer."""
        clusters: dict[_Place, list[ReportingMachine]] = {}
        for machine in self._machines():
            clusters.setdefault((machine.namespace, machine.cluster), []).append(machine)
        waiting = {place for place, machines in clusters.items() if not all(machine.joined for machine in machines)}
        self._bundles = {
            (machine.namespace, machine.cluster, machine.name): machine.bundle_id
            for machines in clusters.values()
            for machine in machines
        }
        places = waiting | self._clusters.keys()
        await asyncio.gather(*(self._read(place, clusters.get(place, [])) for place in places))
        for place in self._clusters.keys() - waiting:
            del self._clusters[place]

    async def _read(self, place: _Place, machines: Collection[ReportingMachine]) -> None:
        known = self._clusters.setdefault(place, _Cluster())
        problem = ""
        try:
            async with self._turn, asyncio.timeout(_CLUSTER_SECONDS):
                connected = await self._workloads.connected(*place)
                if connected is None:
                    return
                await self._take(connected, known, {machine.bundle_id: machine for machine in machines})
        except Halt as halt:
            problem = halt.reason
        except (ApiFailure, TimeoutError) as error:
            problem = type(error).__name__
        if problem and problem != known.problem:
            _log.info("reports in the cluster out of reach", cluster="/".join(place), failure=problem)
        known.problem = problem

    async def _take(self, connected: Connected, known: _Cluster, machines: Mapping[str, ReportingMachine]) -> None:
        objects = await _objects(connected)
        texts = {item.text for item in objects}
        new = {text for text in texts if text not in known.texts}
        read = await asyncio.to_thread(lambda: {text: reports_of(text) for text in new})
        known.texts = {text: known.texts.get(text) or read.get(text, {}) for text in texts}
        reports: dict[str, MachineReport] = {}
        for item in objects:
            own = {key: value for key, value in known.texts[item.text].items() if key in machines}
            for bundle, report in own.items():
                # A machine that joins has two objects: that of its token, and then that of its Node.
                if bundle not in reports or reports[bundle].sequence <= report.sequence:
                    reports[bundle] = report
            if item.text in new:
                self._forward(item.text, [machines[bundle] for bundle in own])
            is_old = self._clock() - item.created > _KEPT
            if all(machines[bundle].joined for bundle in own) if own else is_old:
                await connected.delete(CONFIG_MAPS, NAMESPACE, item.name, preconditions={"uid": item.uid})
        before, known.reports = known.reports, known.reports | reports
        for bundle, report in reports.items():
            if before.get(bundle) != report:
                self.changed(machines[bundle].namespace, machines[bundle].name)

    def _forward(self, text: str, machines: Iterable[ReportingMachine]) -> None:
        if self._forwarding is None:
            return
        for machine in machines:
            place = reportspb.ReportedMachine(namespace=machine.namespace, cluster=machine.cluster, name=machine.name)
            self._forwarding.take(place, machine.bundle_id, text)


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
    created: datetime


async def _objects(connected: Connected) -> list[_Object]:
    """Read the objects; what has another shape, or is too long, is left out."""
    objects: list[_Object] = []
    token = ""
    while len(objects) < MOST:
        items, token = await connected.page(CONFIG_MAPS, NAMESPACE, size=_PAGE, token=token)
        objects += [item for item in map(_object, items) if item is not None]
        if not token or not items:
            break
    return objects[:MOST]


def _object(item: Json) -> _Object | None:
    metadata, data = item["metadata"], item.get("data")
    text = data.get(KEY) if isinstance(data, dict) else None
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    try:
        created = datetime.fromisoformat(metadata.get("creationTimestamp"))
    except (TypeError, ValueError):
        return None
    if created.tzinfo is None:
        return None
    return _Object(metadata["name"], metadata["uid"], text, created)
