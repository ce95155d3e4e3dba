"""Reports in workload clusters: what the controller reads there, what it deletes, and what it does not believe."""

import asyncio
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, cast

import pytest

from slipway.controller import workload_reports
from slipway.controller.machine_report import MachineReport
from slipway.controller.read_texts import ReadTexts
from slipway.controller.report_sources import ReportSource, report_of
from slipway.controller.secret_reader import SecretReader
from slipway.controller.workload import Connected, Workloads
from slipway.controller.workload_reports import NAMESPACE, ReportingMachine, WorkloadReports, reports_of
from slipway.kubernetes_api.failures import ApiFailure, Forbidden, Unreachable
from slipway.kubernetes_api.resources import CONFIG_MAPS, Json
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.kubernetes_api.memory_api import Call
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, event, file_of

MACHINE = ReportingMachine("default", CLUSTER, "w", KEY.bundle_id, joined=False)
COMPLETE_STATE, FAILED_STATE, UNFINISHED_STATE = (
    reportspb.REPORT_STATE_COMPLETE,
    reportspb.REPORT_STATE_FAILED,
    reportspb.REPORT_STATE_UNFINISHED,
)


@dataclass
class Reading:
    """What reads, the cluster that it reads, and the machines that report there."""

    scene: Scene
    machines: list[ReportingMachine] = field(default_factory=lambda: [MACHINE])
    changes: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        reader = SecretReader(self.scene.api, self.scene.api.lookup("Secret"), self.scene.api.lookup("Cluster"))
        workloads = Workloads(reader, lambda _: self.scene.workload, monotonic=lambda: 0.0)
        self.workloads = workloads
        self.seconds = 0.0
        self.reports = WorkloadReports(
            workloads, lambda: self.machines, lambda: self.scene.now, monotonic=lambda: self.seconds
        )
        self.reports.changed = lambda namespace, machine: self.changes.append((namespace, machine))

    def put(self, text: bytes, node: str = "node-1") -> Json:
        """Put in what a Node wrote."""
        metadata = {"name": node, "namespace": NAMESPACE}
        data = {"events": text.decode()}
        return self.scene.workload.put({"kind": "ConfigMap", "metadata": metadata, "data": data})

    def state(self, name: str = "w") -> int | None:
        """Give how far a machine came."""
        report = self.reports.get("default", CLUSTER, name)
        return None if report is None else report.state

    def nodes(self) -> set[str]:
        """Give the names of the objects that are there."""
        return {item["metadata"]["name"] for item in self.scene.workload.all("ConfigMap")}


@pytest.fixture
def reading(scene: Scene) -> Reading:
    """Give a cluster in which one machine waits to join."""
    scene.cluster()
    scene.workload_ready()
    return Reading(scene)


async def test_a_report_is_read_and_its_changes_are_reported(reading: Reading) -> None:
    """How far it came, with the step and the reason of a failure; the same again is no change."""
    await reading.reports.look()
    assert reading.state() is None
    reading.put(BEGUN)
    await reading.reports.look()
    assert reading.state() == UNFINISHED_STATE
    reading.put(FAILED)
    await reading.reports.look()
    await reading.reports.look()
    expected = MachineReport(KEY.bundle_id, FAILED_STATE, of_console=False, phase="bootstrap", step="20-kubeadm",
                             exit_code=1, reason="CommandFailed")  # fmt: skip
    assert reading.reports.get("default", CLUSTER, "w") == expected
    assert reading.changes == [("default", "w")] * 2


async def test_a_report_counts_for_the_machine_whose_bundle_it_names(reading: Reading) -> None:
    """A Node that reports another bundle says nothing of this machine, and no Node says anything of two."""
    reading.machines.append(replace(MACHINE, name="x", bundle_id="other"))
    reading.put(file_of(event(1, "COMPLETE", bundle="unknown")))
    reading.put(COMPLETE.replace(KEY.bundle_id.encode(), b"other"), "node-2")
    await reading.reports.look()
    assert (reading.state(), reading.state("x")) == (None, COMPLETE_STATE)
    assert reading.changes == [("default", "x")]


async def test_of_two_objects_of_a_machine_the_later_one_counts(reading: Reading) -> None:
    """Before its kubelet has a credential it writes by its token, afterwards into the object of its Node."""
    for first, second in (("bootstrap-token-abcdef", "a-node"), ("z-node", "bootstrap-token-abcdef")):
        reading.put(BEGUN, first)
        reading.put(COMPLETE, second)
        await reading.reports.look()
        assert reading.state() == COMPLETE_STATE
        for name in (first, second):
            await reading.scene.workload.delete(CONFIG_MAPS, NAMESPACE, name)


async def test_an_earlier_text_that_is_read_again_is_no_news(reading: Reading) -> None:
    """The object of the token stays as it was before the join, and is read again when there is a further machine."""
    reading.put(COMPLETE)
    await reading.reports.look()
    reading.put(BEGUN, "bootstrap-token-abcdef")
    await reading.reports.look()
    reading.machines.append(replace(MACHINE, name="x", bundle_id="other"))
    await reading.reports.look()
    assert reading.state() == COMPLETE_STATE
    assert reading.changes == [("default", "w")]


SPOILT: dict[str, Callable[[Json], Json]] = {
    "no data": lambda item: {**item, "data": None},
    "another key": lambda item: {**item, "data": {"report": item["data"]["events"]}},
    "no text": lambda item: {**item, "data": {"events": [1]}},
    "too long": lambda item: {**item, "data": {"events": item["data"]["events"] + " " * 8192}},
    "too many bytes": lambda item: {**item, "data": {"events": item["data"]["events"] + "\u00e9" * 4096}},
    "no events": lambda item: {**item, "data": {"events": "<script>alert(1)</script>"}},
    "no time": lambda item: {**item, "metadata": {**item["metadata"], "creationTimestamp": "yesterday"}},
    "a time without a zone": lambda item: {
        **item, "metadata": {**item["metadata"], "creationTimestamp": "2026-01-01T00:00:00"},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
async def test_an_object_of_another_shape_is_none(reading: Reading, name: str) -> None:
    """Whatever stands there, it is no report, and it hides no other one."""
    reading.scene.workload.put(SPOILT[name](reading.put(COMPLETE)))
    await reading.reports.look()
    assert reading.state() is None
    reading.put(BEGUN, "node-2")
    await reading.reports.look()
    assert reading.state() == UNFINISHED_STATE


async def test_no_more_than_so_many_objects_are_read(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster whose list never ends costs a bounded number of calls."""
    monkeypatch.setattr(workload_reports, "MOST", 100)
    for number in range(300):
        reading.put(BEGUN, f"node-{number}")
    await reading.reports.look()
    assert sum(call[0] == "page" for call in reading.scene.workload.calls) == 2


async def test_what_says_nothing_more_is_deleted(reading: Reading) -> None:
    """The report of a machine that joined, at once; one of no Machine after a day; that of one that waits stays."""
    reading.machines.append(replace(MACHINE, name="x", bundle_id="other", joined=True))
    reading.put(FAILED)
    reading.put(COMPLETE.replace(KEY.bundle_id.encode(), b"other"), "node-2")
    reading.put(COMPLETE.replace(KEY.bundle_id.encode(), b"gone"), "node-3")
    await reading.reports.look()
    assert reading.nodes() == {"node-1", "node-3"}
    assert reading.state("x") == COMPLETE_STATE
    reading.scene.later(hours=25)
    await reading.reports.look()
    assert reading.nodes() == {"node-1"}


async def test_a_cluster_is_read_while_machines_wait_and_once_more(reading: Reading) -> None:
    """Where all have joined no call is made, after one that deletes what they reported last."""
    reading.put(FAILED)
    await reading.reports.look()
    reading.machines[:] = [replace(MACHINE, joined=True)]
    await reading.reports.look()
    assert reading.nodes() == set()
    reading.scene.workload.calls.clear()
    await reading.reports.look()
    assert reading.scene.workload.calls == []
    assert reading.state() is None


FAILURES = [Unreachable("GET", "ConfigMap"), Forbidden("GET", "ConfigMap")]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
async def test_a_cluster_that_fails_keeps_no_machine_waiting(reading: Reading, failure: ApiFailure) -> None:
    """What was known stays, and the line to the cluster, which tokens need, is as it was."""
    reading.put(FAILED)
    await reading.reports.look()

    def fail(call: Call) -> None:
        if call[0] == "page":
            raise failure

    reading.scene.workload.before = fail
    await reading.reports.look()
    assert reading.state() == FAILED_STATE
    assert await reading.workloads.connected("default", CLUSTER) is reading.scene.workload


async def test_a_cluster_that_does_not_answer_is_left_alone(reading: Reading) -> None:
    """For a while that grows with each failure; with one answer its reports are read, with some it is as new."""
    calls, fails = [], True

    def fail(call: Call) -> None:
        if call[0] == "page":
            calls.append(reading.seconds)
            if fails:
                raise Unreachable("GET", "ConfigMap")

    reading.scene.workload.before = fail
    for second in range(0, 320, 5):
        reading.seconds = float(second)
        await reading.reports.look()
    assert calls == [0, 5, 15, 35, 75, 135, 195, 255, 315]
    reading.put(BEGUN)
    reading.seconds, fails = 375.0, False
    await reading.reports.look()
    assert reading.state() == UNFINISHED_STATE
    for answers, rest in ((1, 40), (9, 5)):
        fails = False
        for _ in range(answers):
            reading.seconds += 60
            await reading.reports.look()
        calls.clear()
        fails, failed = True, reading.seconds
        for _ in range(13):
            await reading.reports.look()
            reading.seconds += 5
        assert calls[:2] == [failed, failed + rest]


class Silent:
    """Clusters of which some never answer, and the number of calls of each."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.calls: Counter[str] = Counter()
        self.silent: set[str] = set()

    async def connected(self, namespace: str, cluster: str) -> Connected:
        del namespace
        silent = self

        class Line:
            async def page(self, *args: Any, **more: Any) -> tuple[list[Json], str]:
                silent.calls[cluster] += 1
                if cluster in silent.silent:
                    await asyncio.Event().wait()
                return await silent.scene.workload.page(*args, **more)

        return cast(Connected, Line())


@pytest.mark.parametrize("known", [True, False], ids=["read before", "new"])
async def test_silent_clusters_hold_up_no_other_one(
    reading: Reading, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    """Twenty: one that answered is read as ever, a new one when some have had their time; no look waits for them."""
    monkeypatch.setattr(workload_reports, "_LOOK_SECONDS", 0.05)
    monkeypatch.setattr(workload_reports, "_ANSWER_SECONDS", 30.0 if known else 0.01)
    clusters = Silent(reading.scene)
    reports = WorkloadReports(cast(Workloads, clusters), lambda: reading.machines, lambda: reading.scene.now)
    if known:
        await reports.look()
    dead = [f"dead-{number}" for number in range(20)]
    clusters.silent.update(dead)
    reading.machines[:] = [replace(MACHINE, cluster=name, name=name, bundle_id=name) for name in dead] + [MACHINE]
    clusters.calls.clear()
    async with asyncio.timeout(25):
        while clusters.calls[CLUSTER] < 3:
            await reports.look()
    if known:
        assert sum(clusters.calls[name] for name in dead) == 3


@dataclass
class Endless:
    """A cluster with as many objects as are read, each with other text in it."""

    text: str

    async def page(self, *_: object, size: int, token: str = "") -> tuple[list[Json], str]:
        first = int(token or 0)
        return [
            {
                "metadata": {"name": f"n{number}", "uid": f"u{number}", "creationTimestamp": "2026-11-01T12:00:00Z"},
                "data": {"events": f"{number} {self.text}"},
            }
            for number in range(first, first + size)
        ], str(first + size)

    async def connected(self, *_: object) -> "Endless":
        return self


@pytest.mark.parametrize("text", ["\U0001f600" + "x" * 8000, "\U0001f600" + COMPLETE.decode()])
async def test_what_a_cluster_holds_is_not_held_here(
    reading: Reading, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """Texts of 8000 characters of four bytes each, as one of them is no ASCII: of 32 KB, a hundred bytes are kept."""
    monkeypatch.setattr(workload_reports, "MOST", 100)
    monkeypatch.setattr(workload_reports, "_LOOK_SECONDS", 60.0)
    reading.machines[:] = [replace(MACHINE, cluster=f"c{number}") for number in range(5)]
    workloads = cast(Workloads, Endless(text))
    reports = WorkloadReports(workloads, lambda: reading.machines, lambda: reading.scene.now)
    await reports.look()
    kept = pickle.dumps([reports._texts, *map(reports._visits.state, reports._visits.places())])
    assert 500 * 16 < len(kept) < 500 * 100


async def test_what_was_read_of_all_clusters_has_a_bound(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is read again each time, with the same result; what is gone makes room."""
    reads: list[str] = []

    def note(text: str) -> dict[str, MachineReport]:
        reads.append(text)
        return reports_of(text)

    monkeypatch.setattr(workload_reports, "reports_of", note)
    reading.reports._texts = ReadTexts(5)
    for number in range(3):
        reading.put(FAILED.replace(b"20-kubeadm", f"{number}0-kubeadm".encode()), f"node-{number}")
    for _ in range(2):
        await reading.reports.look()
    assert (len(reads), reading.state()) == (4, FAILED_STATE)
    await reading.scene.workload.delete(CONFIG_MAPS, NAMESPACE, "node-0")
    for _ in range(3):
        await reading.reports.look()
    assert len(reads) == 6
    reading.machines.clear()
    for _ in range(2):
        await reading.reports.look()
    assert reading.reports._texts._size == 0


async def test_a_text_is_read_again_for_a_machine_that_was_not_known(reading: Reading) -> None:
    """Its object may be there before its data Secret is in the copies."""
    reading.put(COMPLETE.replace(KEY.bundle_id.encode(), b"other"))
    await reading.reports.look()
    reading.machines.append(replace(MACHINE, name="x", bundle_id="other"))
    await reading.reports.look()
    assert reading.state("x") == COMPLETE_STATE


async def test_a_cluster_without_a_kubeconfig_is_left_out() -> None:
    """It is read as soon as it has one."""
    scene = Scene()
    scene.cluster()
    reading = Reading(scene)
    reading.put(BEGUN)
    await reading.reports.look()
    assert reading.state() is None
    scene.workload_ready()
    await reading.reports.look()
    assert reading.state() == UNFINISHED_STATE


async def test_a_defect_does_not_end_the_reading(reading: Reading, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is logged, and the next look is as always."""
    monkeypatch.setattr(workload_reports, "_LOOK_SECONDS", 0.01)
    reading.put(BEGUN)
    machines, defects = reading.machines, iter([RuntimeError])

    def listed() -> list[ReportingMachine]:
        for defect in defects:
            raise defect
        return machines

    reading.reports = WorkloadReports(reading.workloads, listed, lambda: reading.scene.now)
    task = asyncio.create_task(reading.reports.run())
    async with asyncio.timeout(30):
        while reading.state() is None:  # noqa: ASYNC110  # what is waited for happens in a task
            await asyncio.sleep(0.01)
    task.cancel()


@dataclass
class Fixed:
    """A source with one report."""

    report: MachineReport | None
    changed: Callable[[str, str], None] = lambda _namespace, _machine: None

    def get(self, namespace: str, cluster: str, machine: str) -> MachineReport | None:
        del namespace, cluster, machine
        return self.report

    async def run(self) -> None: ...


def test_the_report_that_says_most_counts() -> None:
    """An end before a bootstrap that goes on, what the machine sent before its console, then the earlier source."""
    (begun,), (failed,) = (reports_of(text.decode()).values() for text in (BEGUN, FAILED))
    console = replace(failed, of_console=True)
    rows: list[tuple[list[MachineReport | None], MachineReport | None]] = [
        ([None, None], None),
        ([begun, None], begun),
        ([begun, failed], failed),
        ([failed, begun], failed),
        ([console, failed], failed),
        ([begun, console], console),
        ([failed, replace(failed, step="other")], failed),
    ]
    for reports, expected in rows:
        sources: list[ReportSource] = [Fixed(report) for report in reports]
        assert report_of(sources)("n", "c", "m") == expected


async def test_it_becomes_the_condition(reading: Reading) -> None:
    """From the object in the workload cluster to BootstrapSucceeded of the config, as from the gateway's reports."""
    scene = reading.scene
    scene.plane()
    scene.worker(spec={"provisioner": {"name": "cloud-init"}, "reporting": {"sinks": [{"workloadCluster": {}}]}})
    await scene.reconcile()
    bundle_id = scene.status()["bundleId"]
    reading.machines[:] = [replace(MACHINE, bundle_id=bundle_id)]
    reading.put(FAILED.replace(KEY.bundle_id.encode(), bundle_id.encode()))
    await reading.reports.look()
    assert reading.changes == [("default", "w")]
    reporter = type(scene.reconciler.reporter)(scene.api, lambda: scene.now, reports=True)
    facts = replace(scene.facts(), report=reading.reports.get("default", CLUSTER, "w"))
    await replace(scene.reconciler, reporter=reporter).reconcile(facts, waited=lambda _: 0.0)
    message = "step 20-kubeadm of the phase bootstrap failed with exit code 1 (source: machine)"
    assert scene.condition(type_="BootstrapSucceeded") == ("False", "CommandFailed", message)
    events = [item["reason"] for item in scene.api.all("Event")]
    assert events == ["CommandFailed"]


def test_a_day_is_longer_than_a_bootstrap_that_is_waited_for() -> None:
    """What is of no Machine may be of one that is not in the copies yet."""
    assert timedelta(hours=2) < workload_reports._KEPT
