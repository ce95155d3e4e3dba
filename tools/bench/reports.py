"""Measure how reports arrive: machines that each report once, at a rate, at one node gateway; `make bench-reports`.

Each machine writes the events of a bootstrap to an address of its own. Afterwards all reports are listed: what is
missing was lost.
"""

import asyncio
import json
import socket
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from slipway.contract.roles import REPORTS as ROLE
from slipway.reports.capability import Capabilities, Kind, Target
from slipway.reports.names import BundleKey
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.report_service_pb2_grpc import ReportServiceStub
from tools.bench.process_figures import cpu_seconds, machine, rss_mib
from tools.bench.sections import PAGE, REPORTS, with_section

_BUNDLE = "0123456789abcdef"
_STEPS = 12
_HOURS = 3600


@dataclass(frozen=True)
class Load:
    """Figures of a load; times in milliseconds, memory in MiB.

    Attributes:
        machines: that reported.
        per_second: the rate that was asked for; 0: 64 at a time, as fast as they are answered.
        statuses: answers by their status.
        listed: machines whose reports are there afterwards, all with the right state.
        listing: to list them all, by page.
    """

    machines: int
    per_second: float
    seconds: float
    statuses: dict[int, int]
    p50: float
    p99: float
    worst: float
    listed: int
    listing: float
    memory: float
    cpu: float


async def load(machines: int, per_second: float) -> Load:
    """Start a gateway in a folder of its own, and have machines report to it."""
    with tempfile.TemporaryDirectory(prefix="slipway-reports-") as scratch:
        folder = Path(scratch)
        (folder / "key").write_text("k" * 64)
        (folder / "files").mkdir()
        ports = [free_port(), free_port()]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "slipway.node_gateway", "--insecure", f"--listen-address=127.0.0.1:{ports[0]}",
            f"--store=file://{folder}/files", f"--report-store=file://{folder}/reports",
            f"--report-key-file={folder}/key", f"--management-address=127.0.0.1:{ports[1]}",
            "--peer-requests-per-second=0", "--peer-connections=1000", stdout=DEVNULL, stderr=DEVNULL,
        )  # fmt: skip
        try:
            return await _measure(process.pid, folder, ports, machines, per_second)
        finally:
            if process.returncode is None:
                process.terminate()
            await process.wait()


async def _measure(pid: int, folder: Path, ports: list[int], machines: int, per_second: float) -> Load:
    capabilities = Capabilities.of_file(folder / "key")
    base = f"http://127.0.0.1:{ports[0]}"
    statuses: Counter[int] = Counter()
    durations: list[float] = []
    places = asyncio.Semaphore(1000 if per_second else 64)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as client:
        await wait_for_gateway(client, base)

        async def report(number: int) -> None:
            target = Target(BundleKey("default", "harbour", f"worker-{number}", _BUNDLE), Kind.EVENTS)
            address = capabilities.address(target, expires=int(time.time()) + _HOURS)
            async with places:
                began = time.perf_counter()
                async with client.put(base + address, data=_events(number)) as answer:
                    statuses[answer.status] += 1
                durations.append((time.perf_counter() - began) * 1000)

        memory, cpu, began = 0.0, cpu_seconds(pid), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(machines):
                group.create_task(report(number))
                due = began + number / per_second if per_second else 0.0
                if (wait := due - time.perf_counter()) > 0:
                    await asyncio.sleep(wait)
                if number % 100 == 0:
                    memory = max(memory, rss_mib(pid))
        seconds = time.perf_counter() - began
    memory, cpu = max(memory, rss_mib(pid)), cpu_seconds(pid) - cpu
    listed, listing = await _listed(f"127.0.0.1:{ports[1]}")
    durations.sort()
    return Load(
        machines, per_second, seconds, dict(statuses), durations[len(durations) // 2],
        durations[len(durations) * 99 // 100], durations[-1], listed, listing, max(memory, rss_mib(pid)), cpu,
    )  # fmt: skip


async def _listed(address: str) -> tuple[int, float]:
    pool = ChannelPool(tls=None, trust_domain="slipway")
    stub = ReportServiceStub(pool.get(address, role=ROLE))
    names: set[str] = set()
    token, began = "", time.perf_counter()
    while token or not names:
        request = reportspb.ListReportsRequest(
            namespace="default", state=reportspb.REPORT_STATE_FAILED, page_token=token
        )
        answer = await invoke(stub.ListReports, request, timeout=60)
        names |= {report.machine.name for report in answer.reports if report.sources[0].reason == "CommandFailed"}
        token = answer.next_page_token
        if not token:
            break
    await pool.close()
    return len(names), (time.perf_counter() - began) * 1000


async def wait_for_gateway(client: aiohttp.ClientSession, base: str) -> None:
    """Wait until a gateway answers, a minute at most.

    Raises:
        RuntimeError: it does not.
    """
    for _ in range(600):
        try:
            async with client.get(f"{base}/healthz") as answer:
                if answer.status == 200:  # noqa: PLR2004  # a code of HTTP
                    return
        except aiohttp.ClientError:
            await asyncio.sleep(0.1)
    raise RuntimeError("the gateway does not answer")


def _events(number: int) -> bytes:
    """Give the events of a bootstrap that fails in its last step."""
    lines = []
    for index in range(2 * _STEPS):
        state = "STARTED" if index % 2 == 0 else "SUCCEEDED" if index < 2 * _STEPS - 1 else "FAILED"
        event = {
            "bundleId": _BUNDLE, "sequence": index + 1, "time": f"2026-01-02T03:04:{index:02}Z",
            "hostname": f"worker-{number}", "executor": "EXECUTOR_MACHINEADM", "phase": "PHASE_BOOTSTRAP",
            "step": f"step-{index // 2}", "state": f"EVENT_STATE_{state}",
        }  # fmt: skip
        if state == "FAILED":
            event |= {"exitCode": 1, "reason": "CommandFailed"}
        lines.append(json.dumps(event, separators=(",", ":")))
    return ("\n".join(lines) + "\n").encode()


def section(loads: list[Load]) -> str:
    """Give the section of the page."""
    rows = ["| " + " | ".join(_cells(figures)) + " |" for figures in loads]
    return "\n".join(
        [
            REPORTS, "",
            f"Measured by `make bench-reports` on {machine()}: machines report {2 * _STEPS} events each to",
            "one node gateway with a folder as its store, from the same machine. Times in milliseconds, memory in MiB.",
            "",
            "| machines | a second | seconds | p50 | p99 | longest | lost | memory | CPU a report | to list all |",
            "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |", *rows,
        ]
    )  # fmt: skip


def _cells(figures: Load) -> list[str]:
    numbers = (figures.p50, figures.p99, figures.worst)
    return [
        str(figures.machines),
        f"{figures.per_second:.0f}" if figures.per_second else "all at once",
        f"{figures.seconds:.0f}",
        *(f"{number:.1f}" for number in numbers),
        str(figures.machines - figures.listed),
        f"{figures.memory:.0f}",
        f"{figures.cpu / figures.machines * 1000:.2f}",
        f"{figures.listing:.0f}",
    ]


def main() -> None:
    """Measure 10,000 machines, or so many, as fast as possible and in ten minutes; write the section."""
    machines = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    rates = [float(rate) for rate in sys.argv[2:]] or [0.0, machines / 600]
    loads = [asyncio.run(load(machines, rate)) for rate in rates]
    text = section(loads)
    print(text)
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


def free_port() -> int:
    """Give a port that is free on loopback."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
