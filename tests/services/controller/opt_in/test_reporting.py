"""The annotation by which the machine of an opted-in KubeadmConfig reports: to whom, and what it does not change."""

import base64
import re
from dataclasses import replace
from datetime import timedelta

import pytest
import yaml

from slipway.controller import ownership
from slipway.controller.data_secret import Record
from slipway.controller.report_addresses import ReportAddresses
from slipway.controller.workload_reports import ReportingMachine
from slipway.reports.capability import Capabilities, Kind, Target
from slipway.reports.names import BundleKey
from tests.bootstrapper.test_cluster_reporting_spec import BY_TOKEN
from tests.oracles.powershell import texts as powershell_texts
from tests.services.controller.opt_in.opted_in import REFERENCE, OptedIn, kubeadm_config
from tests.services.controller.opt_in.test_watches import ToldBoth
from tests.services.controller.scene import CLUSTER, cluster_object, machine_object
from tests.services.controller.test_report_addresses import BASE, KEY, target_of

EVENT = "/bin/sh /var/lib/slipway/event 20-kubeadm"


@pytest.fixture
def reporting(scene: OptedIn) -> OptedIn:
    """Give a scene whose controller makes addresses."""
    scene.reports = ReportAddresses(BASE, Capabilities([KEY]), timedelta(hours=48), lambda: scene.now)
    scene.restart()
    return scene


def asking(sinks: str) -> dict[str, str]:
    """Give the annotation."""
    return {ownership.REPORTING: sinks}


def texts(scene: OptedIn, name: str = "w") -> tuple[str, str]:
    """Give the commands of the user data, and the contents of its files."""
    document = yaml.safe_load(scene.value(name))
    contents = [str(file["content"]) for file in document["write_files"]]
    return "\n".join(map(str, document["runcmd"])), "\n".join(contents)


def addresses(scene: OptedIn, name: str = "w") -> list[str]:
    """Give the addresses in a machine's user data."""
    matched = re.search(r"report failure (\S+) (\S+) >", texts(scene, name)[1])
    return [] if matched is None else [base64.b64decode(part).decode() for part in matched.groups()]


async def test_without_it_a_machine_is_that_of_before(scene: OptedIn, reporting: OptedIn) -> None:
    """Who asks for nothing gets neither events nor an address, also where the controller makes some."""
    scene.config()
    await scene.reconcile()
    scene.config("empty", annotations=asking(" "))
    await scene.reconcile("empty")
    for name in ("w", "empty"):
        assert EVENT not in texts(scene, name)[0]
        assert addresses(reporting, name) == []


async def test_the_gateway_by_an_address_of_the_machine(reporting: OptedIn) -> None:
    """`put` is to the addresses that the controller signs, for this Machine and its bundle."""
    reporting.config(annotations=asking("put"))
    await reporting.reconcile()
    commands, _ = texts(reporting)
    record = Record.of_secret(reporting.api.find("Secret", "w") or {})
    assert record is not None
    key = BundleKey("default", CLUSTER, "w", record.bundle_id)
    assert [target_of(address) for address in addresses(reporting)] == [Target(key, kind) for kind in Kind]
    assert f"{{ {EVENT} && :; " in commands


async def test_the_cluster_and_the_console(scene: OptedIn) -> None:
    """Neither needs anything of the controller; the events are those of the line of the bootstrap."""
    scene.config("cluster", annotations=asking("workloadCluster, console"))
    scene.config("console", annotations=asking("console"))
    for name, sends in (("cluster", True), ("console", False)):
        await scene.reconcile(name)
        commands, contents = texts(scene, name)
        assert f"{{ {EVENT} && :; " in commands
        assert bool(BY_TOKEN.search(contents)) is sends


async def test_ignition_has_the_events_of_its_unit(reporting: OptedIn) -> None:
    """The config that Cluster API's kubeadm provider makes for Ignition keeps its script; its unit reports."""
    for name, sinks in (("plain", ""), ("w", "put,workloadCluster")):
        spec = {"format": "ignition", "ignition": {}}
        reporting.config(name, spec=spec, annotations=asking(sinks) if sinks else {})
        await reporting.reconcile(name)
    plain, reports = (reporting.value(name) for name in ("plain", "w"))
    assert b"50-slipway-report.conf" not in plain
    assert b"slipway/event 20-kubeadm done" in reports
    assert reports.count(b"/var/lib/slipway/steps/") == 4, "two files, and a line of the unit for each"


@pytest.mark.parametrize(
    ("sinks", "expected"),
    [
        ("consle", "did you mean console?"),
        ("put,gateway", "there are console, put, workloadCluster"),
        ("put,", "there are console, put, workloadCluster"),
        ("console,console", "has console twice"),
        ("put", "the controller has no --report-url-base"),
    ],
)
async def test_what_cannot_be_done_is_refused(scene: OptedIn, sinks: str, expected: str) -> None:
    """A sink that there is not, one twice, or an address that is not made: the message names the annotation."""
    scene.config(annotations=asking(sinks))
    await scene.reconcile()
    status, reason, message = scene.condition(type_="DataSecretAvailable")
    assert (status, reason) == ("False", "SpecInvalid")
    assert f"metadata.annotations[{ownership.REPORTING}]" in message
    assert expected in message
    assert scene.api.find("Secret", "w") is None


async def test_a_pool_has_no_address(reporting: OptedIn) -> None:
    """Its machines share their user data: `put` is refused, their cluster takes their reports all the same."""
    config = reporting.pool_config()
    for sinks, there in (("put", False), ("workloadCluster", True)):
        config["metadata"]["annotations"] |= asking(sinks)
        reporting.api.put(config)
        await reporting.reconcile("p")
        assert (reporting.api.find("Secret", "p") is not None) is there
        if not there:
            assert "no address for this MachinePool" in reporting.condition("p", "DataSecretAvailable")[2]


@pytest.mark.parametrize(
    ("provisioner", "sink"), [("talos", "put"), ("talos", "workloadCluster"), ("windows", "workloadCluster")]
)
async def test_what_sends_nothing_is_refused(reporting: OptedIn, provisioner: str, sink: str) -> None:
    """Where nothing on the machine would send it, the annotation is no wish that is dropped."""
    reporting.config(annotations={**asking(sink), ownership.PROVISIONER: provisioner})
    await reporting.reconcile()
    assert reporting.condition(type_="DataSecretAvailable")[0] == "False"
    assert "reporting" in reporting.condition(type_="DataSecretAvailable")[2]
    assert reporting.api.find("Secret", "w") is None


async def test_an_operator_who_denies_it(reporting: OptedIn) -> None:
    """A list of what is denied holds for the annotation as for a spec."""
    policy = replace(reporting.bootstrapper.policy, denied_features=frozenset({"reporting"}))
    reporting.bootstrapper = replace(reporting.bootstrapper, policy=policy)
    reporting.restart()
    reporting.config(annotations=asking("put"))
    await reporting.reconcile()
    assert reporting.condition(type_="DataSecretAvailable")[1] == "FeatureDenied"


async def test_who_has_no_room_keeps_the_console(reporting: OptedIn) -> None:
    """User data that fit only without the address are rendered without, and an event says so."""
    await filled(reporting, "small", 45_000)
    assert len(addresses(reporting, "small")) == 2
    # With 300 bytes more than there are, and an address costs more than that.
    await filled(reporting, "large", 45_000 + 65_535 - len(reporting.value("small")) + 300)
    assert addresses(reporting, "large") == []
    assert EVENT in texts(reporting, "large")[0]
    assert len(reporting.value("large")) > 62_000
    (event,) = [event for event in reporting.api.all("Event") if event["reason"] == "NoRoomInUserData"]
    assert event["involvedObject"]["name"] == "large"


async def filled(scene: OptedIn, name: str, size: int) -> None:
    """Make the user data of a machine on an infrastructure that takes 64 KiB, with files of a size together."""
    text = "".join(f"{index * 7919 % 10007:05}" for index in range(size // 5 + 1))[:size]
    files = [{"path": f"/etc/f{at:06}", "content": text[at : at + 9000]} for at in range(0, size, 9000)]
    machine = scene.machine(name)
    machine["spec"]["infrastructureRef"] = {"kind": "AzureMachine", "name": name}
    scene.config(name, owner=scene.api.put(machine), spec={"files": files}, annotations=asking("put"))
    await scene.reconcile(name)
    assert scene.condition(name, "DataSecretAvailable")[0] == "True"


def test_reports_are_read_in_the_clusters_of_those_who_ask() -> None:
    """Only of a Machine with the sink in its annotation, once its user data are stored."""
    both = ToldBoth()
    both.put(cluster_object())
    record = Record(1, 0, "WORKER", "cloud-init", "0.1.0", "cloud-config", "bundle", 1, token=False, engine="kubeadm")
    for name, annotations in (("a", asking("console,workloadCluster")), ("b", asking("console")), ("c", {})):
        owner = machine_object(name)
        owner["spec"]["bootstrap"] = {"configRef": {**REFERENCE, "name": name}}
        both.put(kubeadm_config(name, owner=both.put(owner), annotations=annotations))
        both.put({"kind": "Secret", "metadata": {"name": name, "annotations": record.annotations()}})
    assert list(both.watches.reporting_machines()) == [
        ReportingMachine("default", CLUSTER, "a", "bundle", joined=False)
    ]
    assert list(both.native.reporting_machines()) == []


async def test_a_machine_of_windows_reports_by_its_address(reporting: OptedIn) -> None:
    """A scheduled task of it sends to the address that its user data has."""
    reporting.config(annotations={**asking("put"), ownership.PROVISIONER: "windows"})
    await reporting.reconcile()
    calls = [
        re.findall(r"'([A-Za-z0-9+/=]+)'", line)
        for text in powershell_texts(reporting.value("w").decode())
        for line in text.splitlines()
        if line.startswith('Start-Report "$args" ')
    ]
    assert [[base64.b64decode(part).decode().startswith(BASE) for part in call] for call in calls] == [[True, True]]
