"""ReportService by gRPC: consoles come in, reports, changes and log bundles go out, and unknown fields are refused."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from slipway.contract.errors import BundleInvalid, ReportNotFound
from slipway.reports.names import BundleKey
from slipway.rpc.client import invoke, stream
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.reports.made import BEGUN, COMPLETE, FAILED, KEY, contents
from tests.services.reports.served import serving

pytestmark = pytest.mark.long

MACHINE = reportspb.ReportedMachine(namespace=KEY.namespace, cluster=KEY.cluster, name=KEY.machine)
SINK = reportspb.REPORT_SOURCE_SINK
NOISE = b"\x1b[0;32m[  OK  ] Started x.\r\n\x00login: "
SECONDS = 20.0


def console(text: bytes, **more: Any) -> reportspb.IngestConsoleRequest:
    """Give a request with a console's text."""
    return reportspb.IngestConsoleRequest(machine=MACHINE, bundle_id=KEY.bundle_id, console=text, **more)


async def test_a_console_becomes_a_report(tmp_path: Path) -> None:
    """Noise, colours and line ends aside, the events count; the text itself is kept nowhere."""
    async with serving(tmp_path) as served, served.stub() as stub:
        text = NOISE + FAILED.replace(b"\n", b"\x1b[0m\r\n") + NOISE + b"secret words"
        answer = await invoke(stub.IngestConsole, console(text), timeout=SECONDS)
        assert (answer.events, answer.foreign_events) == (4, 0)
        report = (await invoke(stub.GetReport, reportspb.GetReportRequest(machine=MACHINE), timeout=SECONDS)).report
        assert [part.source for part in report.sources] == [reportspb.REPORT_SOURCE_CONSOLE]
        assert report.sources[0].reason == "CommandFailed"
        listed = await invoke(stub.ListReports, reportspb.ListReportsRequest(namespace="default"), timeout=SECONDS)
        assert [report.machine for report in listed.reports] == [MACHINE]
    assert b"secret words" not in contents(tmp_path)


async def test_a_forged_bundle_does_not_count(tmp_path: Path) -> None:
    """A line with another bundle's id is counted as foreign, and there is no report by it."""
    async with serving(tmp_path) as served, served.stub() as stub:
        forged = COMPLETE.replace(KEY.bundle_id.encode(), b"ffffffffffffffff")
        answer = await invoke(stub.IngestConsole, console(forged), timeout=SECONDS)
        assert (answer.events, answer.foreign_events) == (0, 5)
        with pytest.raises(ReportNotFound):
            await invoke(stub.GetReport, reportspb.GetReportRequest(machine=MACHINE), timeout=SECONDS)


@pytest.mark.parametrize(
    ("request_", "path", "reason"),
    [
        (console(b"\x1f\x8b" + bytes(10)), "console", "compressed"),
        (console(bytes(1000)), "console", "no text"),
        (console(b"x" * (2 * 2**20 + 1)), "console", "too large"),
        (console(b""), "console", "empty"),
        (reportspb.IngestConsoleRequest(machine=MACHINE, console=b"x"), "bundle_id", "no bundle"),
        (reportspb.IngestConsoleRequest(bundle_id="b", console=b"x"), "machine", "no machine"),
        (
            reportspb.IngestConsoleRequest(
                machine=reportspb.ReportedMachine(namespace="n", cluster="c", name="../x"), bundle_id="b", console=b"x"
            ),
            "machine.name",
            "a way out",
        ),
        (reportspb.IngestConsoleRequest(machine=MACHINE, bundle_id="../b", console=b"x"), "bundle_id", "a way out"),
    ],
)
async def test_a_wrong_console_is_refused_by_its_field(
    tmp_path: Path, request_: reportspb.IngestConsoleRequest, path: str, reason: str
) -> None:
    """The path says which field, and nothing is kept."""
    async with serving(tmp_path) as served, served.stub() as stub:
        with pytest.raises(BundleInvalid) as refused:
            await invoke(stub.IngestConsole, request_, timeout=SECONDS)
        assert [violation.path for violation in refused.value.violations] == [path], reason
    assert contents(tmp_path) == b""


async def test_unknown_fields_are_refused(tmp_path: Path) -> None:
    """A filter that this version does not know would give more than was asked."""
    unknown = b"\xba\x3e\x01x"  # field 999
    machine = reportspb.ReportedMachine.FromString(MACHINE.SerializeToString() + unknown)
    requests: list[tuple[str, Any]] = [
        ("IngestConsole", reportspb.IngestConsoleRequest.FromString(console(FAILED).SerializeToString() + unknown)),
        ("GetReport", reportspb.GetReportRequest(machine=machine)),
        ("ListReports", reportspb.ListReportsRequest.FromString(b"\x0a\x07default" + unknown)),
    ]
    async with serving(tmp_path) as served, served.stub() as stub:
        for method, request in requests:
            with pytest.raises(BundleInvalid, match="rule"):
                await invoke(getattr(stub, method), request, timeout=SECONDS)
        streams: list[tuple[Any, Any]] = [
            (stub.WatchReports, reportspb.WatchReportsRequest.FromString(b"\x0a\x07default" + unknown)),
            (stub.GetLogBundle, reportspb.GetLogBundleRequest(machine=machine)),
        ]
        for call, request in streams:
            with pytest.raises(BundleInvalid, match="rule"):
                await anext(stream(call, request, timeout=SECONDS))


async def test_pages_and_states_are_filtered(tmp_path: Path) -> None:
    """Each page goes on where the one before ended, whatever of it was filtered; a wrong token is refused."""
    async with serving(tmp_path) as served, served.stub() as stub:
        for number in range(7):
            key = BundleKey("default", "harbour", f"worker-{number}", KEY.bundle_id)
            await served.reports.store.add_events(key, SINK, FAILED if number % 2 else BEGUN)

        async def names(**more: Any) -> list[list[str]]:
            pages: list[list[str]] = []
            token = ""
            while not pages or token:
                request = reportspb.ListReportsRequest(namespace="default", page_size=3, page_token=token, **more)
                answer = await invoke(stub.ListReports, request, timeout=SECONDS)
                pages.append([report.machine.name[-1] for report in answer.reports])
                token = answer.next_page_token
            return pages

        assert await names() == [["0", "1", "2"], ["3", "4", "5"], ["6"]]
        assert await names(state=reportspb.REPORT_STATE_FAILED) == [["1"], ["3", "5"], []]
        assert await names(machine="worker-4") == [["4"]]
        assert await names(cluster="other") == [[]]
        for token in ("worker", "Li4vLi4v", "e", "YS9i", "L2EvYi9j"):
            request = reportspb.ListReportsRequest(namespace="default", page_token=token)
            with pytest.raises(BundleInvalid) as refused:
                await invoke(stub.ListReports, request, timeout=SECONDS)
            assert [violation.path for violation in refused.value.violations] == ["page_token"]


async def test_a_watch_sends_all_and_then_changes(tmp_path: Path) -> None:
    """At first everything, then what changed and what is gone, by whichever replica it came."""
    async with serving(tmp_path) as served, served.stub() as stub:
        store = served.reports.store
        request = reportspb.WatchReportsRequest(namespace="default")
        empty = stream(stub.WatchReports, request, timeout=SECONDS)
        first = await anext(empty)
        assert (first.synced, list(first.reports)) == (True, [])
        await store.add_events(KEY, SINK, BEGUN)
        change = await anext(empty)
        assert [report.machine for report in change.reports] == [MACHINE]
        await store.add_events(KEY, SINK, FAILED)
        change = await anext(empty)
        assert change.reports[0].sources[0].state == reportspb.REPORT_STATE_FAILED
        assert change.synced
        for path in [path for path, _ in served.reports.objects.paths("reports")]:
            served.reports.objects.delete(path)
        assert list((await anext(empty)).deleted) == [MACHINE]


async def test_many_reports_come_in_several_messages(tmp_path: Path) -> None:
    """No message is larger than every client takes; the last one of the beginning says that it is."""
    async with serving(tmp_path) as served, served.stub() as stub:
        store = served.reports.store
        keys = [BundleKey("default", "harbour", f"worker-{number}", KEY.bundle_id) for number in range(501)]
        await asyncio.gather(*(store.add_events(key, SINK, BEGUN) for key in keys))
        watch = stream(stub.WatchReports, reportspb.WatchReportsRequest(namespace="default"), timeout=SECONDS)
        first, second = await anext(watch), await anext(watch)
        assert [(len(part.reports), part.synced) for part in (first, second)] == [(500, False), (1, True)]


async def test_a_log_bundle_comes_in_parts(tmp_path: Path) -> None:
    """As it was kept, in messages of at most 256 KiB."""
    async with serving(tmp_path) as served, served.stub() as stub:
        content = bytes(range(256)) * 4000
        await served.reports.store.add_logs(KEY, content)
        request = reportspb.GetLogBundleRequest(machine=MACHINE)
        parts = [part.data async for part in stream(stub.GetLogBundle, request, timeout=SECONDS)]
        assert b"".join(parts) == content
        assert max(map(len, parts)) <= 256 * 2**10
        request = reportspb.GetLogBundleRequest(machine=MACHINE, bundle_id="other")
        with pytest.raises(ReportNotFound):
            await anext(stream(stub.GetLogBundle, request, timeout=SECONDS))
