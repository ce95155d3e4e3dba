"""Reports are kept, merged and listed by their names alone, by any replica and after any restart, in bounded memory."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from obstore.store import MemoryStore

from slipway.contract.errors import ReportNotFound, ReportsUnavailable
from slipway.reports.names import BundleKey
from slipway.reports.objects import Objects
from slipway.reports.store import KEPT, ReportStore
from slipway.reports.summary import MOST_EVENTS
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, Clock, event, file_of, store_of

pytestmark = pytest.mark.long

SINK, CONSOLE = reportspb.REPORT_SOURCE_SINK, reportspb.REPORT_SOURCE_CONSOLE
WHERE = (KEY.namespace, KEY.cluster, KEY.machine)


def key_of(cluster: str, machine: str, bundle: str = KEY.bundle_id) -> BundleKey:
    """Give the bundle of another machine."""
    return BundleKey("default", cluster, machine, bundle)


@pytest.fixture(params=["folder", "memory"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Objects]:
    """Give a store that lists in no order, and one that lists in order, as object stores do."""
    if request.param == "folder":
        opened = Objects.of(f"file://{tmp_path}/store")
    else:
        opened = Objects(MemoryStore(), ThreadPoolExecutor(4))
    yield opened
    opened.close()


@pytest.fixture
def store(objects: Objects) -> ReportStore:
    """Give a store of reports."""
    return ReportStore(objects, Clock())


def paths(objects: Objects) -> list[str]:
    """Give the names of all objects."""
    return sorted(path for path, _ in objects.paths("reports"))


async def test_a_failure_is_reported_with_its_step(store: ReportStore) -> None:
    """The list has it from the name, the report from the events; both say the same."""
    assert await store.add_events(KEY, SINK, BEGUN) == (3, 0)
    (listed,) = await store.page("default", most=10)
    assert (listed.sources[0].state, listed.sources[0].step) == (reportspb.REPORT_STATE_UNFINISHED, "20-kubeadm")
    assert await store.add_events(KEY, SINK, FAILED) == (4, 0)
    (listed,) = await store.page("default", most=10)
    report = await store.report(*WHERE)
    for answer in (listed, report):
        (part,) = answer.sources
        assert (part.state, part.phase, part.step, part.exit_code, part.reason) == (
            reportspb.REPORT_STATE_FAILED, planpb.PHASE_BOOTSTRAP, "20-kubeadm", 1, "CommandFailed",
        )  # fmt: skip
        assert answer.bundle_id == KEY.bundle_id
    assert [message.sequence for message in report.sources[0].events] == [1, 2, 3, 4]
    assert not listed.sources[0].events


async def test_the_same_again_changes_nothing(store: ReportStore, objects: Objects) -> None:
    """A console that is read every minute writes once."""
    await store.add_events(KEY, CONSOLE, FAILED)
    before = paths(objects)
    await store.add_events(KEY, CONSOLE, b"noise\n" + FAILED + b"more noise")
    assert paths(objects) == before


async def test_a_shorter_text_takes_nothing_away(store: ReportStore) -> None:
    """A console keeps its end only; what was read earlier stays."""
    await store.add_events(KEY, CONSOLE, BEGUN)
    await store.add_events(KEY, CONSOLE, COMPLETE.partition(b"\n")[2][-200:])
    report = await store.report(*WHERE)
    assert [message.sequence for message in report.sources[0].events] == [1, 2, 3, 5]
    assert report.sources[0].state == reportspb.REPORT_STATE_COMPLETE


async def test_events_of_another_bundle_do_not_count(store: ReportStore, objects: Objects) -> None:
    """They are counted as foreign, and take no place, however many there are."""
    foreign = file_of(*(event(number, "STARTED", "x", bundle="other") for number in range(1, 10_050)))
    assert await store.add_events(KEY, CONSOLE, foreign[:200]) == (0, 1)
    assert paths(objects) == []
    events, _ = await store.add_events(KEY, CONSOLE, foreign + BEGUN)
    assert events == 3
    assert [message.sequence for message in (await store.report(*WHERE)).sources[0].events] == [1, 2, 3]


async def test_a_console_never_overrides_a_sink(store: ReportStore) -> None:
    """The machine's own report is first, also when the console's is newer and says otherwise."""
    await store.add_events(KEY, SINK, FAILED)
    await store.add_events(KEY, CONSOLE, COMPLETE)
    report = await store.report(*WHERE)
    assert [(part.source, part.state) for part in report.sources] == [
        (SINK, reportspb.REPORT_STATE_FAILED), (CONSOLE, reportspb.REPORT_STATE_COMPLETE),
    ]  # fmt: skip


async def test_little_is_kept_of_a_machine(store: ReportStore, objects: Objects) -> None:
    """A machine that reports for ever has a bounded number of objects, each of a bounded number of events."""
    for number in range(1, 10):
        await store.add_events(KEY, SINK, file_of(*(event(9 * i + number, "STARTED", "x") for i in range(399))))
        await store.add_logs(KEY, b"logs %d" % number)
    assert len(paths(objects)) == KEPT + 1
    report = await store.report(*WHERE)
    assert len(report.sources[0].events) == MOST_EVENTS
    assert report.sources[0].events[-1].sequence == 9 * 398 + 9
    assert report.log_bundle.bytes == len(b"logs 9")


async def test_the_last_bundle_is_that_of_the_machine(store: ReportStore) -> None:
    """A machine that was made again has another bundle; the earlier one is given by its id."""
    await store.add_events(KEY, SINK, FAILED)
    later = key_of(KEY.cluster, KEY.machine, "fedcba9876543210")
    await store.add_events(later, SINK, FAILED.replace(KEY.bundle_id.encode(), later.bundle_id.encode()) + b"\n")
    assert (await store.report(*WHERE)).bundle_id == later.bundle_id
    assert (await store.report(*WHERE, KEY.bundle_id)).bundle_id == KEY.bundle_id
    (listed,) = await store.page("default", most=10)
    assert listed.bundle_id == later.bundle_id
    with pytest.raises(ReportNotFound):
        await store.report(*WHERE, "another")
    with pytest.raises(ReportNotFound):
        await store.report("default", KEY.cluster, "worker-2")


async def test_logs_come_in_parts(store: ReportStore) -> None:
    """The last bundle comes as it was kept."""
    content = bytes(range(256)) * 4096
    await store.add_logs(KEY, b"earlier")
    await store.add_logs(KEY, content)
    parts = await store.logs(*WHERE)
    read = b""
    while part := await store.next_part(parts):
        read += part
    assert read == content
    with pytest.raises(ReportNotFound):
        await store.logs("default", KEY.cluster, "worker-2")


async def test_the_same_logs_keep_what_was_found_in_them(tmp_path: Path) -> None:
    """Sent again, by a machine that got no answer, they stay: in the same moment, and without a diagnosis this time."""
    clock = Clock()
    objects, store = store_of(tmp_path, clock)
    await store.add_logs(KEY, b"logs", reason="SwapOn")
    for _ in range(2):
        clock.now -= 1
        await store.add_logs(KEY, b"logs")
        assert (await store.report(*WHERE)).log_bundle.reason == "SwapOn"
    await store.add_logs(KEY, b"other logs")
    assert not (await store.report(*WHERE)).log_bundle.reason
    objects.close()


@pytest.mark.parametrize("reason", ["../../x", "A/b", "A_b", "a", "A.tar.gz", "A\n", "A" * 64])
async def test_invalid_reason_is_no_part_of_a_name(store: ReportStore, objects: Objects, reason: str) -> None:
    """Logs are kept where they belong, and found again, whatever their diagnosis gave."""
    await store.add_logs(KEY, b"logs", reason=reason)
    (path,) = paths(objects)
    assert path.startswith(f"{KEY.folder}/")
    assert path.endswith(".tar.gz")
    report = await store.report(*WHERE)
    assert (report.log_bundle.bytes, report.log_bundle.reason) == (4, "")


async def test_pages_have_each_machine_once(store: ReportStore) -> None:
    """In the order of the names, in which "a-b" is before "a/", whatever the size of a page."""
    names = [(cluster, machine) for cluster in ("a", "a-b", "a.b", "b") for machine in ("m", "m-1", "m.1", "n")]
    for cluster, machine in names:
        await store.add_events(key_of(cluster, machine), SINK, BEGUN)
        await store.add_events(key_of(cluster, machine), CONSOLE, FAILED)
    await store.add_events(BundleKey("other", "a", "m", KEY.bundle_id), SINK, BEGUN)
    places = sorted(f"{cluster}/{machine}/" for cluster, machine in names)
    for size in (1, 3, 16, 100):
        listed: list[str] = []
        while page := await store.page("default", after=listed[-1] if listed else "", most=size):
            assert len(page) <= size
            assert all(len(report.sources) == 2 for report in page)
            listed += [f"{report.machine.cluster}/{report.machine.name}/" for report in page]
        assert listed == places
    assert [report.machine.name for report in await store.page("default", cluster="a", most=100)] == [
        "m-1", "m.1", "m", "n",
    ]  # fmt: skip
    assert len(await store.page("default", machine="m-1", most=100)) == 4
    assert len(await store.page("default", cluster="b", machine="m", most=100)) == 1
    assert await store.page("nobody", most=100) == []


async def test_a_restart_and_another_replica_see_the_same(tmp_path: Path) -> None:
    """Nothing is kept in a process: what one took in the other gives."""
    clock = Clock()
    first, store = store_of(tmp_path, clock)
    second, replica = store_of(tmp_path, clock)
    await asyncio.gather(store.add_events(KEY, SINK, BEGUN), replica.add_events(KEY, SINK, FAILED))
    await asyncio.gather(*(each.add_logs(KEY, b"logs") for each in (store, replica)))
    reports = [await each.report(*WHERE) for each in (store, replica)]
    assert reports[0] == reports[1]
    assert reports[0].sources[0].state == reportspb.REPORT_STATE_FAILED
    first.close()
    second.close()
    third, again = store_of(tmp_path, clock)
    assert await again.report(*WHERE) == reports[0]
    third.close()


async def test_a_store_that_fails_is_unavailable(tmp_path: Path) -> None:
    """The error has the kind of failure, and neither a path nor a message of the library."""
    objects, store = store_of(tmp_path / "store", Clock())
    (tmp_path / "store" / "reports").write_bytes(b"in the way")
    with pytest.raises(ReportsUnavailable) as refused:
        await store.add_events(KEY, SINK, BEGUN)
    assert str(tmp_path) not in refused.value.message
    objects.close()
