"""The condition BootstrapSucceeded: from reports and Nodes, with one Warning event for each failure."""

from dataclasses import replace

import pytest

from slipway.controller.machine_report import MachineReport
from slipway.controller.report import Reporter
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.scene import Scene

COMPLETE, FAILED, UNFINISHED = (
    reportspb.REPORT_STATE_COMPLETE,
    reportspb.REPORT_STATE_FAILED,
    reportspb.REPORT_STATE_UNFINISHED,
)
NO_REPORT = ("Unknown", "NoReport", "no report yet")


class Reported(Scene):
    """A scene whose controller follows reports."""

    def restart(self) -> None:
        """Forget everything that a process knows, as a new one would; the reports as well."""
        super().restart()
        self.reconciler = replace(self.reconciler, reporter=Reporter(self.api, lambda: self.now, reports=True))

    async def reported(
        self, state: int = 0, *, bundle_id: str = "", name: str = "w", logs: str = "", **more: object
    ) -> None:
        """Reconcile a config whose machine reported that, or nothing; `logs`: what its logs show."""
        facts = self.facts(name)
        if state:
            bundle = bundle_id or self.status(name)["bundleId"]
            report = reportspb.Report(bundle_id=bundle)
            report.sources.add(source=reportspb.REPORT_SOURCE_SINK, state=state, **more)  # type: ignore[arg-type]
            report.log_bundle.reason = logs
            facts = replace(facts, report=MachineReport.of(report))
        await self.reconciler.reconcile(facts, waited=lambda _: self.waited)

    async def observed(self, report: MachineReport, *, name: str = "w") -> None:
        """Reconcile a config of whose bundle that is the report."""
        report = replace(report, bundle_id=self.status(name)["bundleId"])
        await self.reconciler.reconcile(replace(self.facts(name), report=report), waited=lambda _: self.waited)

    def bootstrap(self, name: str = "w") -> tuple[str, str, str]:
        """Give status, reason and message of the condition."""
        return self.condition(name, "BootstrapSucceeded")

    def join(self, name: str = "w") -> None:
        """Let the Node of a machine join."""
        machine = self.api.find("Machine", name)
        assert machine is not None
        self.api.put({**machine, "status": {"nodeRef": {"name": name}}})


async def worker_that_waits() -> Reported:
    """Give a worker whose user data is stored."""
    made = Reported()
    made.cluster()
    made.workload_ready()
    made.plane()
    made.worker()
    await made.reconcile()
    return made


@pytest.fixture
async def reported() -> Reported:
    """A worker whose user data is stored."""
    return await worker_that_waits()


FAILURE = {"phase": planpb.PHASE_BOOTSTRAP, "step": "20-kubeadm", "exit_code": 1, "reason": "CommandFailed"}


async def test_it_says_how_far_a_machine_came(reported: Reported) -> None:
    """Unknown without a report and while it goes on, False with the report's reason, True when it is complete."""
    assert reported.bootstrap() == NO_REPORT
    await reported.reported(UNFINISHED)
    assert reported.bootstrap()[:2] == ("Unknown", "BootstrapUnfinished")
    await reported.reported(FAILED, **FAILURE)
    message = "step 20-kubeadm of the phase bootstrap failed with exit code 1 (source: machine)"
    assert reported.bootstrap() == ("False", "CommandFailed", message)
    await reported.reported(COMPLETE)
    assert reported.bootstrap()[:2] == ("True", "BootstrapComplete")
    assert reported.condition()[0] == "True"


async def test_a_node_that_joined_counts_more_than_any_report(reported: Reported) -> None:
    """It is True without a report, against one, and afterwards."""
    await reported.reported(FAILED, **FAILURE)
    reported.join()
    await reported.reported(FAILED, **FAILURE)
    assert reported.bootstrap()[:2] == ("True", "NodeJoined")
    assert "source: node" in reported.bootstrap()[2]
    machine = reported.api.find("Machine", "w")
    assert machine is not None
    reported.api.put({**machine, "status": {}})
    await reported.reported(FAILED, **FAILURE)
    assert reported.bootstrap()[:2] == ("True", "NodeJoined")


async def test_a_report_of_another_bundle_says_nothing(reported: Reported) -> None:
    """The machine of that name which was there before is another one."""
    await reported.reported(FAILED, bundle_id="fedcba9876543210", **FAILURE)
    assert reported.bootstrap() == NO_REPORT
    assert reported.api.all("Event") == []


async def test_what_was_said_stays_without_the_gateway(reported: Reported) -> None:
    """A new process that knows no report, since the gateway does not answer, takes nothing back and writes nothing."""
    await reported.reported(FAILED, **FAILURE)
    earlier = reported.bootstrap()
    reported.restart()
    writes = len(reported.api.writes)
    await reported.reported()
    assert reported.bootstrap() == earlier
    assert len(reported.api.writes) == writes


async def test_a_failure_is_one_warning_on_the_machine(reported: Reported) -> None:
    """Looks that follow, and the next process, write no second one; another failure is another one."""
    for _ in range(3):
        await reported.reported(FAILED, **FAILURE)
        reported.restart()
    (event,) = reported.api.all("Event")
    assert (event["type"], event["reason"]) == ("Warning", "CommandFailed")
    assert "20-kubeadm" in event["message"]
    machine = reported.api.find("Machine", "w")
    assert machine is not None
    assert event["involvedObject"]["kind"] == "Machine"
    assert event["involvedObject"]["uid"] == machine["metadata"]["uid"]
    await reported.reported(FAILED, **{**FAILURE, "step": "30-labels"})
    assert len(reported.api.all("Event")) == 2


async def test_steps_that_go_on_are_no_writes(reported: Reported) -> None:
    """A bootstrap of twenty steps costs one status."""
    await reported.reported(UNFINISHED, step="10-files")
    writes = len(reported.api.writes)
    await reported.reported(UNFINISHED, step="20-kubeadm", phase=planpb.PHASE_BOOTSTRAP)
    assert len(reported.api.writes) == writes


@pytest.mark.parametrize("reason", ["", "NodeJoined", "Available", "0Start", "Ünknown", "A/b", "A\n", "A" * 64])
async def test_a_reason_that_is_none_is_ours(reported: Reported, reason: str) -> None:
    """A machine that forges its report cannot have the condition say what only the controller says."""
    await reported.reported(FAILED, **{**FAILURE, "reason": reason})
    assert reported.bootstrap()[:2] == ("False", "BootstrapFailed")


async def test_a_pool_has_none() -> None:
    """Its machines share a config, and none of them reports."""
    made = Reported()
    made.cluster()
    made.workload_ready()
    made.plane()
    made.pool()
    await made.reconcile("p")
    assert made.bootstrap("p") == ("", "", "")


async def test_a_paused_config_keeps_one(reported: Reported) -> None:
    """It stands in the status once, whatever was said before."""
    config = reported.api.find("SlipwayConfig", "w")
    assert config is not None
    config["metadata"]["annotations"] = {"cluster.x-k8s.io/paused": ""}
    reported.api.put(config)
    await reported.reported(FAILED, **FAILURE)
    types = [condition["type"] for condition in reported.status()["conditions"]]
    assert types.count("BootstrapSucceeded") == 1
    assert len(types) == len(set(types))


async def test_without_reports_nothing_is_said(scene: Scene) -> None:
    """A controller that follows none writes what it always wrote."""
    scene.worker()
    await scene.reconcile()
    assert scene.condition(type_="BootstrapSucceeded") == ("", "", "")


def test_a_console_is_named() -> None:
    """What any program of the machine can write is not said in the machine's name."""
    report = reportspb.Report(bundle_id="b")
    report.sources.add(source=reportspb.REPORT_SOURCE_CONSOLE, state=FAILED, step="20-kubeadm")
    read = MachineReport.of(report)
    assert read is not None
    assert read.of_console
    assert MachineReport.of(reportspb.Report(bundle_id="b")) is None


async def test_logs_reason_is_in_the_message_without_a_second_event(reported: Reported) -> None:
    """The logs arrive behind the events: the reason stays that of the event, and the Machine has one Warning event."""
    failed = {"step": "pre-00", "phase": planpb.PHASE_PRE, "exit_code": 22, "reason": "CommandFailed"}
    await reported.reported(FAILED, **failed)
    text = "step pre-00 of the phase pre failed with exit code 22 (source: machine)"
    assert reported.bootstrap() == ("False", "CommandFailed", text)
    for _ in range(2):
        await reported.reported(FAILED, logs="DownloadNotFound", **failed)
        assert reported.bootstrap() == ("False", "CommandFailed", f"{text}; its logs show DownloadNotFound")
        reported.restart()
    events = [event["message"] for event in reported.api.all("Event") if event["reason"] == "CommandFailed"]
    assert events == [f"bootstrap: {text}"]


@pytest.mark.parametrize("logs", ["0Start", "two words", "A\n", "A" * 64])
async def test_invalid_logs_reason_is_left_out(reported: Reported, logs: str) -> None:
    """The message names reasons alone, whatever a server of reports gives."""
    await reported.reported(FAILED, logs=logs, **FAILURE)
    message = "step 20-kubeadm of the phase bootstrap failed with exit code 1 (source: machine)"
    assert reported.bootstrap() == ("False", "CommandFailed", message)


async def test_logs_reason_of_complete_bootstrap_is_ignored(reported: Reported) -> None:
    """A machine that is complete has no reason of a failure, whatever its logs hold."""
    await reported.reported(COMPLETE, logs="DownloadNotFound")
    assert "DownloadNotFound" not in str(reported.bootstrap())


async def test_a_phase_of_a_newer_gateway() -> None:
    """A controller that is older than the gateway says what it knows, and goes on."""
    reported = await worker_that_waits()
    await reported.reported(FAILED, **{**FAILURE, "phase": 99})
    assert "step 20-kubeadm of the phase unknown (99) failed" in reported.bootstrap()[2]
