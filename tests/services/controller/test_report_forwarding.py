"""Reports of workload clusters at the node gateway: passed on by the controller to a real server of it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from slipway.contract.errors import ReportNotFound
from slipway.controller import report_forwarding
from slipway.controller.report_forwarding import ReportForwarding
from slipway.controller.report_watch import ReportServer
from slipway.controller.workload_reports import WorkloadReports
from slipway.reports.names import BundleKey
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.controller.scene import CLUSTER, Scene
from tests.services.controller.test_report_watch import until
from tests.services.controller.workload_reading import MACHINE, Reading
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY
from tests.services.reports.served import Served, serving

PLACE = reportspb.ReportedMachine(namespace="default", cluster=CLUSTER, name="w")


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PAUSE", "_LONGEST_PAUSE"):
        monkeypatch.setattr(report_forwarding, name, 0.02)


@asynccontextmanager
async def forwarding_to(address: str) -> AsyncIterator[ReportForwarding]:
    """Pass on to a server."""
    channels = ChannelPool(tls=None, trust_domain="slipway")
    made = ReportForwarding(ReportServer(address, channels))
    task = asyncio.create_task(made.run())
    try:
        yield made
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await channels.close()


async def kept(served: Served, name: str = "w") -> tuple[int, int]:
    """Give source and state of a machine's report at the gateway, zeros for none."""
    try:
        report = await served.reports.store.report("default", CLUSTER, name)
    except ReportNotFound:
        return 0, 0
    return report.sources[0].source, report.sources[0].state


async def test_what_is_read_in_a_cluster_is_passed_on(scene: Scene, tmp_path: Path) -> None:
    """The gateway has it as that of a console: what the machine itself sent there counts before it."""
    scene.cluster()
    scene.workload_ready()
    reading = Reading(scene)
    async with serving(tmp_path) as served, forwarding_to(served.address) as forwarding:
        reports = WorkloadReports(reading.workloads, lambda: reading.machines, lambda: scene.now, forwarding)
        reading.put(FAILED)
        await reports.look()
        await until(lambda: not forwarding._waiting)
        assert await kept(served) == (reportspb.REPORT_SOURCE_CONSOLE, reportspb.REPORT_STATE_FAILED)
        await reports.look()
        assert not forwarding._waiting, "the same again is no news"
        own = BundleKey("default", CLUSTER, "w", MACHINE.bundle_id)
        await served.reports.store.add_events(own, reportspb.REPORT_SOURCE_SINK, COMPLETE)
        assert await kept(served) == (reportspb.REPORT_SOURCE_SINK, reportspb.REPORT_STATE_COMPLETE)


async def test_only_the_text_of_a_machine_that_reports_there_is(scene: Scene) -> None:
    """What another Node wrote, of a bundle that no waiting Machine has, stays there, and so does what is older."""
    scene.cluster()
    scene.workload_ready()
    reading = Reading(scene)
    reading.machines.append(replace(MACHINE, name="x", bundle_id="other"))
    channels = ChannelPool(tls=None, trust_domain="slipway")
    forwarding = ReportForwarding(ReportServer("127.0.0.1:1", channels))
    reports = WorkloadReports(reading.workloads, lambda: reading.machines, lambda: scene.now, forwarding)
    reading.put(BEGUN.replace(KEY.bundle_id.encode(), b"unknown"), "stranger")
    reading.put(BEGUN)
    await reports.look()
    assert forwarding._waiting == {("default", CLUSTER, "w"): (MACHINE.bundle_id, BEGUN)}
    reading.put(COMPLETE, "a-node")
    reading.put(BEGUN + b"\n", "bootstrap-token-abcdef")
    await reports.look()
    assert forwarding._waiting == {("default", CLUSTER, "w"): (MACHINE.bundle_id, COMPLETE)}
    await channels.close()


async def test_a_gateway_that_comes_later_gets_the_last_text(tmp_path: Path) -> None:
    """Of each machine one text waits, and none is lost while the gateway is away."""
    port = free_port()
    async with forwarding_to(f"127.0.0.1:{port}") as forwarding:
        for text in (BEGUN, COMPLETE):
            forwarding.take(PLACE, KEY.bundle_id, text.decode())
        await until(lambda: forwarding._problem)
        assert len(forwarding._waiting) == 1
        async with serving(tmp_path, port=port) as served:
            await until(lambda: not forwarding._waiting)
            assert (await kept(served))[1] == reportspb.REPORT_STATE_COMPLETE


async def test_a_text_that_is_refused_holds_no_other_up(tmp_path: Path) -> None:
    """The gateway refuses a name that it cannot keep: that text is given up, and the next one arrives."""
    async with serving(tmp_path) as served, forwarding_to(served.address) as forwarding:
        forwarding.take(reportspb.ReportedMachine(namespace="default", cluster="-", name="w"), "b", "text")
        forwarding.take(PLACE, KEY.bundle_id, COMPLETE.decode())
        await until(lambda: not forwarding._waiting)
        assert (await kept(served))[1] == reportspb.REPORT_STATE_COMPLETE


async def test_a_defect_ends_nothing(tmp_path: Path) -> None:
    """A failure of a kind that is not foreseen is logged, and all is tried again."""
    async with serving(tmp_path) as served, forwarding_to("no address") as forwarding:
        server = forwarding._server
        forwarding._server = None  # type: ignore[assignment]  # so that each try fails
        forwarding.take(PLACE, KEY.bundle_id, COMPLETE.decode())
        await asyncio.sleep(0.2)
        forwarding._server = replace(server, address=served.address)
        await until(lambda: not forwarding._waiting)
        assert (await kept(served))[1] == reportspb.REPORT_STATE_COMPLETE


async def test_memory_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By bytes: a text beyond the limit is not taken, one that waits keeps its place, and what is sent makes room."""
    place = reportspb.ReportedMachine(namespace="default", cluster=CLUSTER, name="x")
    other = COMPLETE.replace(KEY.bundle_id.encode(), b"b")
    own = sum(map(len, ("default", CLUSTER, "w", KEY.bundle_id, COMPLETE)))
    monkeypatch.setattr(report_forwarding, "_MOST_BYTES", own)
    channels = ChannelPool(tls=None, trust_domain="slipway")
    forwarding = ReportForwarding(ReportServer("127.0.0.1:1", channels))
    assert forwarding.take(PLACE, KEY.bundle_id, COMPLETE.decode())
    assert not forwarding.take(place, "b", other.decode())
    assert not forwarding.take(PLACE, KEY.bundle_id, COMPLETE.decode() + "\n")
    assert forwarding.take(PLACE, KEY.bundle_id, COMPLETE.decode())
    assert forwarding._waiting == {("default", CLUSTER, "w"): (KEY.bundle_id, COMPLETE)}
    async with serving(tmp_path) as served:
        forwarding._server = replace(forwarding._server, address=served.address)
        await forwarding._send()
        assert forwarding.take(place, "b", other.decode())
    await channels.close()


async def test_what_has_no_room_waits_in_its_cluster(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read again, and its object stays although the machine has joined, until it was taken."""
    scene.cluster()
    scene.workload_ready()
    reading = Reading(scene)
    channels = ChannelPool(tls=None, trust_domain="slipway")
    forwarding = ReportForwarding(ReportServer("127.0.0.1:1", channels))
    waiting = replace(MACHINE, name="x", bundle_id="other")
    machines = [replace(MACHINE, joined=True), waiting]
    reports = WorkloadReports(reading.workloads, lambda: machines, lambda: scene.now, forwarding)
    reading.put(COMPLETE)
    monkeypatch.setattr(report_forwarding, "_MOST_BYTES", 1)
    await reports.look()
    assert (reading.nodes(), forwarding._waiting, forwarding._problem) == ({"node-1"}, {}, "TooManyReports")
    monkeypatch.undo()
    await reports.look()
    assert (reading.nodes(), set(forwarding._waiting)) == (set(), {("default", CLUSTER, "w")})
    await channels.close()


async def test_half_a_character_holds_up_no_other_report(tmp_path: Path) -> None:
    """JSON can hold halves of characters, which UTF-8 cannot: the text is passed on without them, and so are others."""
    async with serving(tmp_path) as served, forwarding_to(served.address) as forwarding:
        forwarding.take(PLACE, MACHINE.bundle_id, f"{FAILED.decode()}\n\ud800\n")
        other = reportspb.ReportedMachine(namespace="default", cluster=CLUSTER, name="x")
        forwarding.take(other, MACHINE.bundle_id, FAILED.decode())
        await until(lambda: not forwarding._waiting)
        assert (await kept(served))[1] == reportspb.REPORT_STATE_FAILED
        assert (await kept(served, "x"))[1] == reportspb.REPORT_STATE_FAILED


async def test_a_report_that_fails_by_itself_goes_behind_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it fails by, the others are sent before it is tried again."""
    sent: list[str] = []

    async def answer(method: object, request: reportspb.IngestConsoleRequest, **_: object) -> None:
        sent.append(request.machine.name)
        if request.machine.name == "w" and sent.count("w") == 1:
            raise LookupError

    monkeypatch.setattr(report_forwarding, "invoke", answer)
    async with forwarding_to("127.0.0.1:1") as forwarding:
        for name in ("w", "x"):
            forwarding.take(reportspb.ReportedMachine(namespace="default", cluster=CLUSTER, name=name), "b", "text")
        await until(lambda: not forwarding._waiting)
    assert sent == ["w", "x", "w"]
