"""Reports in workload clusters: what the controller reads there, what it deletes, and what it does not believe."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from slipway.controller import workload_reports
from slipway.controller.machine_report import MachineReport
from slipway.controller.report_sources import ReportSource, report_of
from slipway.controller.workload_reports import NAMESPACE, ReportingMachine, WorkloadReports, reports_of
from slipway.kubernetes_api.resources import CONFIG_MAPS, Json
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.controller.workload_reading import COMPLETE_STATE, FAILED_STATE, MACHINE, UNFINISHED_STATE, Reading
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, event, file_of


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


async def test_a_text_is_read_again_for_a_machine_that_was_not_known(reading: Reading) -> None:
    """Its object may be there before its data Secret is in the copies."""
    reading.put(COMPLETE.replace(KEY.bundle_id.encode(), b"other"))
    await reading.reports.look()
    reading.machines.append(replace(MACHINE, name="x", bundle_id="other"))
    await reading.reports.look()
    assert reading.state("x") == COMPLETE_STATE


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
