"""Downloads are counted by result, with their bytes and their time, whether or not ReportService is served."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE
from pathlib import Path

import aiohttp
import pytest
from prometheus_client import CollectorRegistry, generate_latest

from slipway.node_gateway.downloads import Downloads, DownloadsCollector, Transfer
from slipway.rpc.addresses import free_port
from tests.services.node_gateway.served import CONTENT, DIGEST, PAYLOAD, TICKET, fill, gateway

pytestmark = pytest.mark.long

BLOB = f"/sha256/{DIGEST}"
ABSENT = f"/sha256/{'0' * 64}"
PAYLOAD_PATH = f"/payload/{PAYLOAD}"
ANSWERS = [
    (BLOB, {}, "sha256", "sent", len(CONTENT), "a file"),
    (BLOB, {"Range": "bytes=0-9"}, "sha256", "sent", 10, "a part of it"),
    (BLOB, {"Range": "bytes=9999999-"}, "sha256", "range_not_satisfiable", 0, "what is behind the end"),
    (BLOB, {"If-None-Match": f'"{DIGEST}"'}, "sha256", "not_modified", 0, "what the machine has"),
    (ABSENT, {}, "sha256", "not_found", 0, "no file"),
    (PAYLOAD_PATH, {"Authorization": f"Bearer {TICKET}"}, "payload", "sent", 14, "a payload"),
    (PAYLOAD_PATH, {"Authorization": "Bearer other"}, "payload", "not_found", 0, "a payload of another"),
]


@pytest.mark.parametrize("row", ANSWERS, ids=[answer[-1] for answer in ANSWERS])
async def test_an_answer_counts_once(tmp_path: Path, row: tuple[str, dict[str, str], str, str, int, str]) -> None:
    """By its result, with the bytes that were sent; time is that of what was sent to its end."""
    path, headers, kind, result, size, reason = row
    downloads = Downloads()
    async with gateway(tmp_path, downloads=downloads) as client, client.get(path, headers=headers) as answer:
        await answer.read()
    assert downloads.results == {(kind, result): 1}, reason
    assert downloads.bytes[kind] == size
    assert {kind: sum(counts) for kind, counts in downloads.durations.items()} == ({kind: 1} if size else {})


async def test_what_is_no_download_is_not_counted(tmp_path: Path) -> None:
    """Neither HEAD, nor the probe, nor a path that is not served: no client makes a label."""
    downloads = Downloads()
    async with gateway(tmp_path, downloads=downloads) as client:
        for method, path in (
            ("HEAD", BLOB),
            ("GET", "/healthz"),
            ("GET", "/else"),
            ("GET", "/sha256/x"),
            ("PUT", BLOB),
        ):
            async with client.request(method, path) as answer:
                await answer.read()
    assert not downloads.results
    assert not downloads.bytes


async def test_a_peer_that_asks_too_often_is_busy(tmp_path: Path) -> None:
    """Its refusals are not those of a store that fails."""
    downloads = Downloads()
    async with gateway(tmp_path, downloads=downloads, peer_requests_per_second=0.01) as client:
        for _ in range(3):
            async with client.get(ABSENT) as answer:
                await answer.read()
    assert downloads.results["sha256", "busy"] == 3 - downloads.results["sha256", "not_found"] > 0


async def test_a_store_that_fails_is_unavailable(tmp_path: Path) -> None:
    """It is no file that is absent."""
    downloads = Downloads()
    async with gateway(tmp_path, downloads=downloads) as client:
        path = tmp_path / f"sha256/{DIGEST}"
        path.unlink()
        path.symlink_to(path.name)
        async with client.get(BLOB) as answer:
            await answer.read()
    assert downloads.results == {("sha256", "unavailable"): 1}


async def test_a_machine_that_goes_away_counts_what_it_got(tmp_path: Path) -> None:
    """Bytes count that were sent, and the download as aborted: it has no time."""
    downloads = Downloads()
    async with gateway(tmp_path, downloads=downloads, peer_bytes_per_second=len(CONTENT) // 4) as client:
        async with client.get(BLOB) as answer:
            await answer.content.readexactly(1)
            answer.close()
        async with asyncio.timeout(30):
            while not downloads.results:  # noqa: ASYNC110  # the server counts when it notices
                await asyncio.sleep(0.01)
    assert downloads.results == {("sha256", "aborted"): 1}
    assert 0 < downloads.bytes["sha256"] <= len(CONTENT)
    assert not downloads.durations


def test_prometheus_reads_them() -> None:
    """Counters by kind and result, and a histogram whose buckets add up; another kind is not counted."""
    downloads, registry = Downloads(), CollectorRegistry()
    registry.register(DownloadsCollector(downloads))
    for seconds in (0.001, 7.0, 5000.0):
        downloads.count("payload", 200, Transfer(bytes=10), seconds=seconds)
    downloads.count("reports", 204, Transfer(), seconds=1.0)
    text = generate_latest(registry).decode()
    for line in (
        'slipway_node_gateway_downloads_total{kind="payload",result="sent"} 3.0',
        'slipway_node_gateway_download_bytes_total{kind="payload"} 30.0',
        'slipway_node_gateway_download_seconds_bucket{kind="payload",le="0.005"} 1.0',
        'slipway_node_gateway_download_seconds_bucket{kind="payload",le="10.0"} 2.0',
        'slipway_node_gateway_download_seconds_bucket{kind="payload",le="+Inf"} 3.0',
        'slipway_node_gateway_download_seconds_sum{kind="payload"} 5007.001',
    ):
        assert line in text.splitlines(), text
    assert "reports" not in text


@pytest.mark.parametrize("with_reports", [False, True], ids=["alone", "beside ReportService"])
async def test_a_process_serves_them(tmp_path: Path, with_reports: bool) -> None:
    """One port has the metrics of the gateway, with those of ReportService where it is served."""
    port, served = free_port(), free_port()
    argv = ["--insecure", f"--listen-address=127.0.0.1:{served}", f"--store=file://{fill(tmp_path / 'files')}"]
    argv += [f"--metrics-address=127.0.0.1:{port}", "--log-format=console"]
    if with_reports:
        argv += [f"--report-store=file://{tmp_path}/reports", "--management-address=127.0.0.1:0"]
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "slipway.node_gateway", *argv, stdin=DEVNULL, stderr=PIPE
    )
    assert running.stderr
    try:
        while f"port={served}".encode() not in (line := await running.stderr.readline()):
            assert line
        async with aiohttp.ClientSession() as client:
            async with client.get(f"http://127.0.0.1:{served}{BLOB}") as answer:
                await answer.read()
            text = ""
            # A download is counted after its last byte has been sent.
            while "slipway_node_gateway_downloads_total{" not in text:
                async with client.get(f"http://127.0.0.1:{port}/metrics") as answer:
                    text = await answer.text()
    finally:
        running.terminate()
        await running.communicate()
    assert running.returncode == 0
    assert 'slipway_node_gateway_downloads_total{kind="sha256",result="sent"} 1.0' in text
    assert ("slipway_reports_bootstraps" in text) == with_reports
