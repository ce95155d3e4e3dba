"""Machines write reports by their own addresses, and what a hostile one sends is bounded, refused and logged."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import click
import pytest
import structlog
from structlog.testing import CapturingLoggerFactory

from slipway.node_gateway.reports import Reports
from slipway.node_gateway.server import listening
from slipway.node_gateway.settings import GatewaySettings
from slipway.node_gateway.store import Store
from slipway.node_gateway.uploads import Uploads
from slipway.reports.capability import Kind, Target
from slipway.reports.names import BundleKey
from slipway.v1alpha1 import report_service_pb2 as reportspb
from tests.services.node_gateway.served import fill
from tests.services.reports.made import BEGUN, FAILED, KEY, bundle_of, contents, event, file_of, files_of

pytestmark = pytest.mark.long

WHERE = (KEY.namespace, KEY.cluster, KEY.machine)
TOKEN = "abcdef.0123456789abcdef"


@dataclass(frozen=True)
class Gateway:
    """A gateway that takes reports, and a client of it."""

    client: aiohttp.ClientSession
    reports: Reports
    uploads: Uploads

    def address(self, kind: Kind = Kind.EVENTS, *, key: BundleKey = KEY, seconds: float = 60.0) -> str:
        """Give an address that is valid for some seconds."""
        assert self.reports.capabilities is not None
        return self.reports.capabilities.address(Target(key, kind), expires=int(time.time() + seconds))

    async def put(self, address: str, data: Any, **more: Any) -> tuple[int, str]:
        """Give status and text of the answer."""
        async with self.client.put(address, data=data, **more) as answer:
            return answer.status, await answer.text()

    def names(self) -> list[str]:
        """Give the names of all that is kept."""
        return [path for path, _ in self.reports.objects.paths("reports")]


@asynccontextmanager
async def gateway(folder: Path, **settings: Any) -> AsyncIterator[Gateway]:
    """Serve a folder that takes reports."""
    keys = folder / "keys"
    keys.write_text("k" * 32)
    loaded = GatewaySettings.load(
        {"listen_address": "127.0.0.1:0", "insecure": True},
        store=f"file://{fill(folder / 'files')}",
        report_store=f"file://{folder}/reports",
        report_key_file=keys,
        drain_grace_seconds=1.0,
        **({"machine_reports_per_second": 0.0} | settings),
    )
    reports = Reports.of(loaded)
    assert reports is not None
    uploads = reports.uploads()
    assert uploads is not None
    async with (
        listening(loaded, Store.of(loaded.store), uploads) as port,
        aiohttp.ClientSession(f"http://127.0.0.1:{port}") as client,
    ):
        yield Gateway(client, reports, uploads)
    reports.objects.close()


async def test_a_machine_reports(tmp_path: Path) -> None:
    """With nothing but its address: events as they go on, then a log bundle without its secrets."""
    async with gateway(tmp_path) as served:
        for text in (BEGUN, FAILED):
            assert await served.put(served.address(), text) == (204, "")
        logs = bundle_of({"kubelet.log": f"--token {TOKEN}".encode()})
        assert await served.put(served.address(Kind.LOGS), logs) == (204, "")
        report = await served.reports.store.report(*WHERE)
        assert report.sources[0].source == reportspb.REPORT_SOURCE_SINK
        assert report.sources[0].reason == "CommandFailed"
        parts = await served.reports.store.logs(*WHERE)
        assert files_of(await served.reports.store.next_part(parts)) == {"kubelet.log": b"--token <removed>"}
    assert TOKEN.encode() not in contents(tmp_path)


async def test_a_body_without_its_length_is_taken(tmp_path: Path) -> None:
    """As programs send it that read from a pipe; and after the word that curl waits for."""

    async def chunks() -> AsyncIterator[bytes]:
        for line in FAILED.splitlines(keepends=True):
            yield line

    async with gateway(tmp_path) as served:
        assert (await served.put(served.address(), chunks()))[0] == 204
        assert (await served.put(served.address(), FAILED, expect100=True))[0] == 204


async def test_another_object_cannot_be_written(tmp_path: Path) -> None:
    """Nor read, listed or deleted: an address of one machine is of no use for anything else."""
    async with gateway(tmp_path) as served:
        good = served.address()
        path, _, query = good.partition("?")
        for address in (
            good.replace("worker-1", "worker-2"), good.replace(KEY.bundle_id, "f" * 16), f"{path[:-6]}logs?{query}",
            served.address(seconds=-1), path, f"{path}?signature=x", good.replace("worker-1", "..%2f..%2fworker-1"),
            good.replace("default", "default%00"), good.replace("events", "%00"),
        ):  # fmt: skip
            assert (await served.put(address, FAILED))[0] == 403, address
        for method in ("GET", "HEAD", "DELETE", "POST", "PATCH"):
            async with served.client.request(method, good) as answer:
                assert answer.status == 405
        for address in ("/reports", "/reports/", "/reports/default/harbour/worker-1", f"{path}/x?{query}"):
            for method in ("GET", "PUT"):
                async with served.client.request(method, address) as answer:
                    assert answer.status == 404
        assert served.names() == []


async def test_a_path_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    """As it comes from a socket, without a client that makes it tidy."""
    async with gateway(tmp_path) as served:
        query = served.address().partition("?")[2]
        for path in ("default/harbour/..", "../../reports/default/harbour/x", "default/harbour/%2e%2e", "default//x",
                     "default/harbour/..%5c..%5cx", "default/harbour/%00"):  # fmt: skip
            reader, writer = await asyncio.open_connection("127.0.0.1", served.client._base_url.port)  # type: ignore[union-attr]
            head = f"PUT /reports/{path}/{KEY.bundle_id}/events?{query} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            writer.write(f"{head}Content-Length: {len(FAILED)}\r\n\r\n".encode() + FAILED)
            status = (await reader.read()).split()[1]
            assert status in (b"400", b"403", b"404"), path
            writer.close()
        assert served.names() == []


@pytest.mark.parametrize("kind", list(Kind))
async def test_a_large_body_is_refused(tmp_path: Path, kind: Kind) -> None:
    """A GiB by its length at once, without a byte of it; one that hides its length as soon as it is too much."""
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 2**30:
            sent += 65_536
            yield b"x" * 65_536

    async with gateway(tmp_path) as served:
        address = served.address(kind)
        with contextlib.suppress(aiohttp.ClientError):  # it is closed while we still send
            assert (await served.put(address, endless()))[0] == 413
        assert served.uploads.bounds[kind].bytes < sent < 2**28
        status, _ = await served.put(address, b"", headers={"Content-Length": str(2**30)})
        assert status == 413
        assert served.names() == []


NO_REPORTS = {
    "nothing": (Kind.EVENTS, b""),
    "no events": (Kind.EVENTS, b"<script>alert(1)</script>"),
    "events of another bundle": (Kind.EVENTS, file_of(event(1, "STARTED", "x", bundle="f" * 16))),
    "no text": (Kind.EVENTS, bytes(1000)),
    "events that only begin": (Kind.EVENTS, b'{"bundleId":' * 20_000),
    "no logs": (Kind.LOGS, b""),
    "no archive": (Kind.LOGS, b"plain"),
    "a way out": (Kind.LOGS, bundle_of({"../../x": b""})),
}


@pytest.mark.parametrize("reason", NO_REPORTS)
async def test_what_is_no_report_is_refused(tmp_path: Path, reason: str) -> None:
    """Nothing is kept of it, and it is answered in words."""
    kind, data = NO_REPORTS[reason]
    async with gateway(tmp_path) as served:
        status, text = await served.put(served.address(kind), data)
        assert (status, text[-1:]) == (422, "\n")
        assert served.names() == []


async def test_only_events_are_kept(tmp_path: Path) -> None:
    """HTML, output and values around them are not, and neither are members that no event has."""
    async with gateway(tmp_path) as served:
        text = b"<img src=x>\n" + FAILED + event(5, "FAILED", "30-x", output=TOKEN, hostname="<b>").encode()
        assert (await served.put(served.address(), text))[0] == 204
        report = await served.reports.store.report(*WHERE)
        assert [message.hostname for message in report.sources[0].events[3:]] == ["worker-1", ""]
    kept = contents(tmp_path / "reports")
    assert [word for word in (TOKEN.encode(), b"<img", b"<b>") if word in kept] == []


async def test_a_flood_of_one_machine_is_refused(tmp_path: Path) -> None:
    """Others go on: the share is that of a machine, not of all behind one address."""
    other = BundleKey("default", "harbour", "worker-2", KEY.bundle_id)
    async with gateway(tmp_path, machine_reports_per_second=1.0, peer_requests_per_second=0.0) as served:
        statuses = [(await served.put(served.address(), FAILED))[0] for _ in range(60)]
        assert statuses[:20] == [204] * 20
        assert statuses[-1] == 429
        assert (await served.put(served.address(key=other), FAILED))[0] == 204


async def test_one_upload_at_a_time(tmp_path: Path) -> None:
    """A machine that opens many connections takes one place, and gives it back when it goes."""

    async def slow() -> AsyncIterator[bytes]:
        yield BEGUN
        await release.wait()

    release = asyncio.Event()
    async with gateway(tmp_path) as served:
        first = asyncio.create_task(served.put(served.address(), slow()))
        for _ in range(1000):
            if served.uploads._arriving:
                break
            await asyncio.sleep(0.01)
        assert (await served.put(served.address(), BEGUN))[0] == 429
        assert (await served.put(served.address(Kind.LOGS), bundle_of({"a": b""})))[0] == 204
        release.set()
        assert (await first)[0] == 204
        assert (await served.put(served.address(), BEGUN))[0] == 204
        assert not served.uploads._arriving


async def test_a_store_that_fails_is_tried_later(tmp_path: Path) -> None:
    """The answer says so, without the store's own words; the same report is taken once the store is back."""
    async with gateway(tmp_path) as served:
        blocked = tmp_path / "reports" / "reports"
        blocked.write_bytes(b"in the way")
        status, text = await served.put(served.address(), FAILED)
        assert (status, str(tmp_path) in text) == (503, False)
        blocked.unlink()
        assert (await served.put(served.address(), FAILED))[0] == 204


async def test_the_log_has_no_address(tmp_path: Path) -> None:
    """Neither signature nor query; a refusal is logged with its reason, names only where the signature is right."""
    factory = CapturingLoggerFactory()
    before = structlog.get_config()
    structlog.configure(
        logger_factory=factory, cache_logger_on_first_use=False, processors=[structlog.processors.JSONRenderer()]
    )
    try:
        async with gateway(tmp_path) as served:
            good = served.address()
            await served.put(good.replace("worker-1", "somebody-else"), FAILED)
            await served.put(good, b"junk")
            await served.put(good, FAILED)
    finally:
        structlog.configure(**before)
    text = "\n".join(str(call) for call in factory.logger.calls)
    assert "the signature is of another object" in text
    assert "there is no event" in text
    assert "worker-1" in text
    assert [word for word in ("signature=", good.rpartition("=")[2], "somebody-else") if word in text] == []


@pytest.mark.parametrize(
    ("settings", "flag", "reason"),
    [
        ({"report_key_file": "keys"}, "--report-store", "nowhere to keep them"),
        ({"management_address": "127.0.0.1:0"}, "--report-store", "nothing to serve"),
        ({"report_store": "file:///r"}, "--report-key-file", "nobody writes or reads"),
        ({"report_store": "file:///s", "report_key_file": "keys"}, "another folder", "machines would read reports"),
        ({"report_store": "ftp://r", "report_key_file": "keys"}, "--report-store", "no store"),
        (
            {"report_store": "file:///r", "management_address": "127.0.0.1:0", "management_tls_cert_dir": "x"},
            "--management-tls-cert-dir",
            "both with and without TLS",
        ),
        (
            {"report_store": "file:///r", "management_address": "127.0.0.1:0", "report_readers": "sre"},
            "--report-readers",
            "no SPIFFE id",
        ),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, str], flag: str, reason: str) -> None:
    """The message names the flag."""
    with pytest.raises(click.UsageError, match=flag):
        GatewaySettings.load({"listen_address": "127.0.0.1:0", "insecure": True}, store="file:///s", **settings)
    assert reason


def test_the_management_server_is_on_this_machine_without_tls() -> None:
    """Without TLS there are no identities: so only this machine may call."""
    settings = GatewaySettings.load(
        {"listen_address": "127.0.0.1:0", "insecure": True},
        store="file:///s", report_store="file:///r", management_address="0.0.0.0:0",
    )  # fmt: skip
    with pytest.raises(click.UsageError, match="--insecure"):
        settings.management()
