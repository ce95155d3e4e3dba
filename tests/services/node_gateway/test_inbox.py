"""A gateway that machines cannot reach looks for their reports in a bucket, and judges them as those that reach it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import click
import pytest
from obstore.store import MemoryStore

from slipway.contract.errors import ReportsUnavailable
from slipway.node_gateway.inbox import Inbox
from slipway.node_gateway.reports import Reports, keeping
from slipway.node_gateway.settings import GatewaySettings
from slipway.reports.bundle_intake import Redactor
from slipway.reports.capability import Kind, Target
from slipway.reports.names import BundleKey
from slipway.reports.objects import Objects
from slipway.reports.store import ReportStore
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, Clock, bundle_of, contents, files_of, store_of

pytestmark = pytest.mark.long

WHERE = (KEY.namespace, KEY.cluster, KEY.machine)
TOKEN = "abcdef.0123456789abcdef"
NOW = datetime.now(UTC).timestamp()


@dataclass
class Bucket:
    """A bucket, and the inbox that looks into it."""

    objects: Objects
    store: ReportStore
    inbox: Inbox
    folder: Path

    def put(self, data: bytes, kind: Kind = Kind.EVENTS, key: BundleKey = KEY) -> None:
        """Write as a machine does with its pre-signed URL."""
        self.objects.put(Target(key, kind).object_name, data)

    def restarted(self, *, days: float = 14.0, now: float = NOW) -> Inbox:
        """Give the inbox of a process that has seen nothing."""
        return Inbox(self.objects, self.store, Redactor(), days, lambda: now)


@asynccontextmanager
async def bucket(folder: Path, *, memory: bool = False) -> AsyncIterator[Bucket]:
    """Give a bucket in a folder, or in memory, with tags and times as an object store has."""
    objects = Objects.of(f"file://{folder}/inbox")
    if memory:
        objects = replace(objects, store=MemoryStore())
    kept, store = store_of(folder / "reports", Clock(int(NOW * 1000)))
    try:
        yield Bucket(objects, store, Inbox(objects, store, Redactor(), 14.0, lambda: NOW), folder)
    finally:
        objects.close()
        kept.close()


@pytest.mark.parametrize("memory", [False, True], ids=["folder", "memory"])
async def test_what_a_machine_wrote_is_kept(tmp_path: Path, memory: bool) -> None:
    """Events count as sent by the machine, a log bundle is kept without secrets, and the bucket keeps both."""
    async with bucket(tmp_path, memory=memory) as place:
        place.put(FAILED)
        log = f"--token {TOKEN}\n\t[ERROR Port-10250]: Port 10250 is in use\n"
        place.put(bundle_of({"kubeadm.log": log.encode()}), Kind.LOGS)
        assert await place.inbox.look() == 2
        report = await place.store.report(*WHERE)
        assert report.log_bundle.reason == "PortInUse"
        assert report.sources[0].source == reportspb.REPORT_SOURCE_SINK
        assert report.sources[0].reason == "CommandFailed"
        bundle = b"".join(await place.store.logs(*WHERE))
        assert TOKEN.encode() not in files_of(bundle)["kubeadm.log"]
        assert TOKEN.encode() not in contents(tmp_path / "reports")
        assert len(list(place.objects.versions("reports"))) == 2


@pytest.mark.parametrize("memory", [False, True], ids=["folder", "memory"])
async def test_an_object_is_read_again_when_it_was_written_again(tmp_path: Path, memory: bool) -> None:
    """The file of events grows during a bootstrap; nothing else is read a second time."""
    async with bucket(tmp_path, memory=memory) as place:
        place.put(BEGUN)
        place.put(COMPLETE, key=replace(KEY, machine="worker-2"))
        assert [await place.inbox.look() for _ in range(2)] == [2, 0]
        place.put(FAILED)
        assert [await place.inbox.look() for _ in range(2)] == [1, 0]
        assert (await place.store.report(*WHERE)).sources[0].state == reportspb.REPORT_STATE_FAILED


async def test_a_restart_changes_nothing(tmp_path: Path) -> None:
    """A process that has seen nothing reads all again, as a second replica does: there is no more than before."""
    async with bucket(tmp_path) as place:
        place.put(FAILED)
        await place.inbox.look()
        before = sorted(path.name for path in (tmp_path / "reports").rglob("*.jsonl"))
        assert await place.restarted().look() == 1
        assert sorted(path.name for path in (tmp_path / "reports").rglob("*.jsonl")) == before


REFUSED: dict[str, tuple[Kind, Callable[[], bytes]]] = {
    "too large, although its events are good": (Kind.EVENTS, lambda: FAILED + b"\n" * 256 * 2**10),
    "too large, although it is a log bundle": (
        Kind.LOGS,
        lambda: bundle_of({"a.log": Random(1).randbytes(5 * 2**20)}),
    ),
    "no event": (Kind.EVENTS, lambda: b'{"a":1}\n'),
    "events of another bundle": (Kind.EVENTS, lambda: FAILED.replace(KEY.bundle_id.encode(), b"f" * 16)),
    "no log bundle": (Kind.LOGS, lambda: b"\x1f\x8b damaged"),
    "a name that leads elsewhere": (Kind.LOGS, lambda: bundle_of({"../x": b"y"})),
    "unpacked it is too large": (Kind.LOGS, lambda: bundle_of({"zeros": bytes(65 * 2**20)})),
}


@pytest.mark.parametrize("reason", REFUSED)
async def test_what_would_be_refused_on_arrival_is_refused(
    tmp_path: Path, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By the same bounds; it is logged once, and other machines' reports are kept."""
    kind, data = REFUSED[reason]
    async with bucket(tmp_path) as place:
        place.put(data(), kind)
        place.put(COMPLETE, key=replace(KEY, machine="worker-2"))
        assert [await place.inbox.look() for _ in range(2)] == [1, 0], reason
        output = capsys.readouterr().out
        assert output.count("report refused") == 1
        assert "worker-1" in output
        assert len(list((tmp_path / "reports").rglob("*.*"))) == 1


@pytest.mark.parametrize(
    "name",
    [
        "reports/default/harbour/worker-1/0123456789abcdef/other",
        "reports/default/harbour/worker-1/0123456789abcdef",
        "reports/default/harbour/worker-1/0123456789abcdef/events/more",
        "reports/Default/harbour/worker-1/0123456789abcdef/events",
        "reports/default/harbour/-/0123456789abcdef/logs",
    ],
)
async def test_other_objects_are_left_alone(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What is no report's name is counted in the log, once, without the name; it is not even deleted when it is old."""
    async with bucket(tmp_path) as place:
        place.objects.put(name, FAILED)
        assert [await place.inbox.look() for _ in range(2)] == [0, 0]
        await place.restarted(days=0.001, now=NOW + 3600).look()
        assert [version.path for version in place.objects.versions("reports")] == [name]
        output = capsys.readouterr().out
        assert output.count("are no reports") == 2
        assert "harbour" not in output


async def test_old_objects_are_deleted(tmp_path: Path) -> None:
    """They are beyond what the gateway keeps; a machine that writes again is heard again."""
    async with bucket(tmp_path) as place:
        place.put(FAILED)
        assert await place.restarted(days=1, now=NOW + 2 * 86_400).look() == 0
        assert list(place.objects.versions("reports")) == []
        place.put(FAILED)
        assert await place.inbox.look() == 1


async def test_a_store_that_fails_loses_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What could not be kept is taken when the store is back, and the log says what was in the way."""
    async with bucket(tmp_path) as place:
        place.put(FAILED)
        (tmp_path / "reports").rename(tmp_path / "away")
        (tmp_path / "reports").write_text("not a folder")
        with pytest.raises(ReportsUnavailable):
            await place.inbox.look()
        running = asyncio.create_task(place.inbox.run(0.001))
        while "bucket of reports not read" not in capsys.readouterr().out:  # noqa: ASYNC110  # a task writes it
            await asyncio.sleep(0)
        (tmp_path / "reports").unlink()
        (tmp_path / "away").rename(tmp_path / "reports")
        async with asyncio.timeout(60):
            while not list((tmp_path / "reports").rglob("*.jsonl")):  # noqa: ASYNC110  # a task writes it
                await asyncio.sleep(0.01)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


async def test_the_process_looks_by_itself(tmp_path: Path) -> None:
    """Without an address that machines reach and without keys, a report in the bucket is one of the gateway's."""
    settings = GatewaySettings.load(
        {"listen_address": "127.0.0.1:0", "insecure": True},
        store=f"file://{tmp_path}/files",
        report_store=f"file://{tmp_path}/reports",
        report_inbox=f"file://{tmp_path}/inbox",
        report_inbox_seconds=1.0,
    )
    reports = Reports.of(settings)
    assert reports is not None
    assert reports.inbox is not None
    assert reports.uploads() is None
    async with asyncio.timeout(60), keeping(reports, asyncio.Event()):
        reports.inbox.put(Target(KEY, Kind.EVENTS).object_name, FAILED)
        while not list(reports.objects.paths("reports")):  # noqa: ASYNC110  # another task writes it
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ({"report_inbox": "file:///i"}, "--report-store"),
        ({"report_inbox": "file:///r", "report_store": "file:///r"}, "another folder"),
        ({"report_inbox": "file:///s", "report_store": "file:///r"}, "another folder"),
        ({"report_inbox": "ftp://i", "report_store": "file:///r"}, "--report-inbox"),
        (
            {"report_inbox": "file:///i", "report_store": "file:///r", "report_inbox_seconds": 0},
            "--report-inbox-seconds",
        ),
    ],
)
def test_an_inbox_that_cannot_be_used_is_refused(flags: dict[str, object], text: str) -> None:
    """Machines may write neither among the files that are served, nor among the reports that are kept."""
    with pytest.raises(click.UsageError, match=text):
        GatewaySettings.load({"listen_address": "127.0.0.1:0", "insecure": True}, store="file:///s", **flags)
