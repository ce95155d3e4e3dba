"""Traces and metrics arrive at a real OpenTelemetry collector, and hold nothing of a machine's contents."""

import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from tests.bootstrapper.asking import question
from tools.oracles.go_programs import PROGRAMS

pytestmark = [pytest.mark.engine, pytest.mark.timeout(180)]
CANARY = "canary-of-a-file"
SECONDS = 60.0
STAGES = {"check spec", "assemble bundle", "build plan", "lower", "render", "fit user data"}


@contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program whose output goes to a file."""
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            yield process
        finally:
            process.terminate()


def collector(port: int) -> list[str]:
    """Give the command of a collector that writes all that it gets."""
    pipeline = {"receivers": ["otlp"], "exporters": ["debug"]}
    config = {
        "receivers": {"otlp": {"protocols": {"grpc": {"endpoint": f"127.0.0.1:{port}"}}}},
        "exporters": {"debug": {"verbosity": "detailed"}},
        "service": {
            "pipelines": {"traces": pipeline, "metrics": pipeline},
            "telemetry": {"metrics": {"level": "none"}},
        },
    }
    return [str(PROGRAMS["collector"].require()), "--config", f"yaml:{json.dumps(config)}"]


async def ask(address: str) -> None:
    """Ask for the user data of a machine that has the canary in a file, as soon as the server answers."""
    request = bootstrappb.GetUserDataRequest(subject=question("{}").subject, accept_gzip=True)
    request.subject.spec.provisioner.name = "cloud-init"
    request.subject.spec.os.files.add(path="/etc/canary").content.text = CANARY
    request.subject.spec.os.sysctls.add(name="vm.swappiness", value="1")
    channels = ChannelPool(tls=None, trust_domain="slipway")
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            await invoke(BootstrapServiceStub(channels.get(address)).GetUserData, request, timeout=20)
            break
        except SlipwayError as error:
            if error.code.name != "UNAVAILABLE" or time.monotonic() > deadline:
                raise
    await channels.close()


def wait_for_metrics(process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait for the end of a server, which sends what it has last, and until that is in the collector's log."""
    process.wait(SECONDS)
    deadline = time.monotonic() + SECONDS
    while "rpc.server.duration" not in log.read_text(encoding="utf-8") and time.monotonic() < deadline:
        time.sleep(0.2)


async def test_a_collector_gets_the_stages_of_a_machine(engine: Callable[..., None], tmp_path: Path) -> None:
    """Each stage is a span of one trace, with machine, provisioner and format; the calls are a metric."""
    engine("collector")
    port, address = free_port(), f"127.0.0.1:{free_port()}"
    server = [
        *(sys.executable, "-m", "slipway.bootstrap_server", f"--listen-address={address}", "--insecure"),
        *("--embedded-provisioners=cloud-init", f"--credentials-dir={tmp_path / 'credentials'}"),
        f"--otlp-endpoint=http://127.0.0.1:{port}",
    ]
    log = tmp_path / "collector"
    with running(collector(port), log), running(server, tmp_path / "server") as process:
        await ask(address)
        process.terminate()
        await asyncio.to_thread(wait_for_metrics, process, log)
    written = log.read_text(encoding="utf-8")
    server_log = (tmp_path / "server").read_text(encoding="utf-8")
    assert "rpc.server.duration" in written, server_log
    spans = [span for span in re.split(r"^Span #\d+$", written, flags=re.MULTILINE)[1:] if "Trace ID" in span]
    names = {re.search(r"Name +: (.+)", span)[1]: span for span in spans}  # type: ignore[index]
    assert names.keys() >= STAGES, server_log
    traces = {re.search(r"Trace ID +: (\w+)", names[name])[1] for name in STAGES}  # type: ignore[index]
    assert len(traces) == 1
    assert re.search(r"-> (slipway\.)?provisioner: Str\(cloud-init\)", names["render"])
    assert traces & set(re.findall(r"\b[0-9a-f]{32}\b", server_log)), "no line of the log has the trace's id"
    assert CANARY not in written + server_log
