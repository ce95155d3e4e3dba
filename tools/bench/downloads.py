"""Measure how machines download from one node gateway, and what fetching costs; `make bench-downloads`.

Each download is a file of 8 MiB, as machineadm is. The clients are on the same machine, and compare nothing.
"""

import asyncio
import hashlib
import os
import random
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import aiohttp

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.delivery.stubs.formats import STUBS
from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES, Source
from slipway.certificates.authority import Authority
from tools.bench.fetched import Delivered, fetched_rows, table
from tools.bench.process_figures import cpu_seconds, machine, peak_mib
from tools.bench.reports import free_port, wait_for_gateway
from tools.bench.sections import DOWNLOADS, PAGE, with_section

MIB = 2**20
_BYTES = 8 * MIB
_AT_ONCE = (1, 20, 200)


@dataclass(frozen=True, slots=True)
class Downloads:
    """What came of downloads at once.

    Attributes:
        count: of downloads.
        seconds: until the last one was there.
        slowest: seconds of the slowest one.
        memory: most resident memory of the gateway so far, MiB.
        cpu: seconds of the processors that the gateway took.
    """

    count: int
    seconds: float
    slowest: float
    memory: float
    cpu: float


async def downloads() -> list[Downloads]:
    """Start a gateway in a folder of its own, and download from it; each row has a process of its own."""
    with tempfile.TemporaryDirectory(prefix="slipway-downloads-") as scratch:
        content = random.Random(1).randbytes(_BYTES)  # noqa: S311  # only has to be incompressible
        place = Path(scratch) / "sha256" / hashlib.sha256(content).hexdigest()
        place.parent.mkdir()
        place.write_bytes(content)
        return [await _of_process(place, count) for count in _AT_ONCE]


async def _of_process(place: Path, count: int) -> Downloads:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "slipway.node_gateway", "--insecure", f"--listen-address=127.0.0.1:{port}",
        f"--store=file://{place.parent.parent}", "--peer-requests-per-second=0", "--peer-connections=1000",
        "--peer-bytes-per-second=0", stdout=DEVNULL, stderr=DEVNULL,
    )  # fmt: skip
    try:
        return await _measure(process.pid, f"http://127.0.0.1:{port}", f"/sha256/{place.name}", count)
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _measure(pid: int, base: str, path: str, count: int) -> Downloads:
    times: list[float] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        await wait_for_gateway(client, base)

        async def download() -> None:
            began = time.perf_counter()
            size = 0
            async with client.get(base + path) as answer:
                async for chunk in answer.content.iter_chunked(MIB // 4):
                    size += len(chunk)
            if size != _BYTES:
                raise RuntimeError(f"a download has {size} bytes")
            times.append(time.perf_counter() - began)

        cpu, began = cpu_seconds(pid), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(download())
        seconds = time.perf_counter() - began
    return Downloads(count, seconds, max(times), peak_mib(pid), cpu_seconds(pid) - cpu)


def stub_sizes() -> dict[str, tuple[int, int]]:
    """Give the bytes of the stub of each format: for a server that the system trusts, and with an authority."""
    name = "5f" * 32
    url, ticket = f"https://gateway.example.com:8443/payload/{name}", "t" * 43
    authority = Authority(trust_domain="bench", now=utc_now(), validity=timedelta(days=2)).certificate.decode()
    sources = [Source(url, "ab" * 32, ticket, ca, "4f0c2f6a9d1be377") for ca in ("", authority)]
    return {id_: (len(stub.write(sources[0])), len(stub.write(sources[1]))) for id_, stub in STUBS.items()}


def section(
    rows: list[Downloads], sizes: dict[str, tuple[int, int]], delivered: list[Delivered], *, load: float
) -> str:
    """Give the section of the page; `load` is the machine's load average before its measurement began."""
    return "\n".join(
        [
            DOWNLOADS, "",
            f"Measured by `make bench-downloads` on {machine()}: files of {_BYTES // MIB} MiB from one",
            "node gateway with a folder as its store, by clients on the same machine. Memory: the most MiB it had.",
            f"Other programs ran meanwhile: the load average was {load:.0f}, so that memory and seconds of the",
            "processors say more than what passed.",
            "",
            "| at once | seconds | MiB a second | slowest | memory | CPU seconds |",
            "| --- | --- | --- | --- | --- | --- |",
            *(_row(figures) for figures in rows), "",
            f"A stub of delivery `Fetch` has at most {MOST_BYTES} bytes:", "",
            "| format | bytes | with an authority of ECDSA |",
            "| --- | --- | --- |",
            *(f"| `{id_}` | {plain} | {trusting} |" for id_, (plain, trusting) in sorted(sizes.items())), "",
            "The machines of `examples/native.yaml` by both deliveries, with the processor's time for one of them:", "",
            *table(delivered),
        ]
    )  # fmt: skip


def _row(figures: Downloads) -> str:
    rate = figures.count * _BYTES / MIB / figures.seconds
    numbers = f"{figures.seconds:.2f} | {rate:.0f} | {figures.slowest:.2f} | {figures.memory:.0f} | {figures.cpu:.2f}"
    return f"| {figures.count} | {numbers} |"


def main() -> None:
    """Measure, and write the section of the page."""
    load = os.getloadavg()[0]
    text = section(asyncio.run(downloads()), stub_sizes(), asyncio.run(fetched_rows()), load=load)
    print(text)
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    main()
