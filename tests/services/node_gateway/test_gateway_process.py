"""The gateway as a process: memory stays flat under many downloads, and SIGTERM ends it in order."""

import asyncio
import hashlib
import signal
import ssl
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.services.certificates import Authority
from tests.services.node_gateway.served import CONTENT, DIGEST, fill

pytestmark = pytest.mark.long

LARGE = bytes(8 * 2**20)
LARGE_DIGEST = hashlib.sha256(LARGE).hexdigest()
DOWNLOADS = 40


@asynccontextmanager
async def process(folder: Path, *flags: str) -> AsyncIterator[tuple[Process, int]]:
    """Run a gateway of a folder; give it and its port."""
    argv = ["--listen-address=127.0.0.1:0", f"--store=file://{fill(folder)}", "--log-format=console", *flags]
    running = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "slipway.node_gateway", *argv, stdin=DEVNULL, stderr=PIPE
    )
    assert running.stderr
    try:
        line = (await running.stderr.readline()).decode()
        port = int(line.partition("port=")[2].split()[0])
        logs = asyncio.create_task(running.stderr.read())
        yield running, port
        await logs
        await running.wait()  # a signal to a process that has just ended takes its status away
    finally:
        if running.returncode is None:
            running.kill()
        await running.wait()


def peak_mib(pid: int) -> float:
    """Give the most memory that a process has had."""
    (line,) = [one for one in Path(f"/proc/{pid}/status").read_text().splitlines() if one.startswith("VmHWM:")]
    return int(line.split()[1]) / 1024


@pytest.mark.parametrize("with_tls", [False, True])
async def test_memory_is_flat_for_many_downloads(tmp_path: Path, with_tls: bool) -> None:
    """What many downloads of 8 MiB weigh together is never in memory; with or without TLS."""
    authority = Authority()
    flags = ["--insecure"]
    if with_tls:
        flags = [f"--tls-cert-dir={authority.fill(tmp_path / 'certs')}"]
    context = ssl.create_default_context(cadata=authority.certificate.decode())
    store = tmp_path / "store"
    (store / "sha256").mkdir(parents=True)
    (store / f"sha256/{LARGE_DIGEST}").write_bytes(LARGE)
    limits = ["--peer-connections=1000", "--peer-bytes-per-second=0", "--peer-requests-per-second=0"]
    async with process(store, *limits, *flags) as (running, port):
        url = f"http{'s' if with_tls else ''}://127.0.0.1:{port}/sha256/{LARGE_DIGEST}"
        before = peak_mib(running.pid)

        async def download() -> str:
            digest = hashlib.sha256()
            async with client.get(url, ssl=context) as answer:
                async for chunk in answer.content.iter_chunked(65536):
                    digest.update(chunk)
            return digest.hexdigest()

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
            assert set(await asyncio.gather(*(download() for _ in range(DOWNLOADS)))) == {LARGE_DIGEST}
        after = peak_mib(running.pid)
        assert after - before < DOWNLOADS * 8 / 2
        running.send_signal(signal.SIGTERM)
    assert running.returncode == 0


async def test_it_ends_in_order(tmp_path: Path) -> None:
    """A download in flight is finished after SIGTERM, and the process ends with 0: every time."""
    for _ in range(3):
        async with process(tmp_path, "--insecure", f"--peer-bytes-per-second={len(CONTENT) // 2}") as (running, port):
            url = f"http://127.0.0.1:{port}/sha256/{DIGEST}"
            async with aiohttp.ClientSession() as client, client.get(url) as answer:
                await answer.content.readexactly(1)
                running.send_signal(signal.SIGTERM)
                assert len(await answer.content.read()) == len(CONTENT) - 1
        assert running.returncode == 0


async def test_flags_that_cannot_be_meant_are_refused() -> None:
    """No store, or one of an unknown kind, is wrong usage, and says which flag."""
    for flags in ([], ["--store=ftp://x"]):
        running = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "slipway.node_gateway",
            "--insecure",
            "--listen-address=127.0.0.1:0",
            *flags,
            stderr=PIPE,
        )
        _, text = await running.communicate()
        assert (running.returncode, b"--store" in text) == (2, True)
