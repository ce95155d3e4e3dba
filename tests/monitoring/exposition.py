"""What real processes of Slipway report to Prometheus."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import grpc
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from slipway.cli.processes import LOOPBACK
from slipway.controller.metrics import Load, Metrics, MetricsCollector
from slipway.node_gateway.downloads import Downloads, DownloadsCollector, Transfer
from slipway.reports.outcomes import Outcomes, OutcomesCollector
from slipway.rpc.addresses import free_port
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import report_service_pb2 as reportspb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub

_READY_SECONDS = 60.0
_NO_CLUSTER = """
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "http://127.0.0.1:9"}}]
contexts: [{name: none, context: {cluster: none, user: none}}]
users: [{name: none, user: {}}]
current-context: none
"""
Families = dict[str, set[str]]
"""Names of samples, each with the names of its labels."""


def exposition(folder: Path) -> Families:
    """Return what a controller, a provisioner and a node gateway report; no cluster is needed for it."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(_NO_CLUSTER, encoding="utf-8")
    controller = ["slipway.controller", f"--kubeconfig={kubeconfig}", "--no-leader-elect"]
    with ExitStack() as stack:
        metrics, address = stack.enter_context(running([*controller, "--embedded-provisioners=cloud-init"]))
        with grpc.insecure_channel(address) as channel, suppress(grpc.RpcError):
            BootstrapServiceStub(channel).GetUserData(bootstrappb.GetUserDataRequest(), timeout=10)
        families = samples(scraped(metrics))
        metrics, address = stack.enter_context(running(["slipway.provisioners.cloud_init"]))
        with grpc.insecure_channel(address) as channel:
            ProvisionerServiceStub(channel).GetProvisionerInfo(provisionerpb.GetProvisionerInfoRequest(), timeout=10)
        for name, labels in samples(scraped(metrics)).items():
            families.setdefault(name, set()).update(labels)
        (folder / "files").mkdir()
        gateway = ["slipway.node_gateway", "--listen-address=127.0.0.1:0", f"--store=file://{folder}/files"]
        gateway.append(f"--report-store=file://{folder}/reports")
        metrics, _ = stack.enter_context(running(gateway, listen="--management-address"))
        for name, labels in samples(scraped(metrics)).items():
            families.setdefault(name, set()).update(labels)
    return families


def labelled() -> Families:
    """Return the services' own metrics with a sample of each: their labels depend on no cluster and no machine."""
    metrics, registry = Metrics(), CollectorRegistry()
    metrics.halts["WaitingForOwner"] = 1
    load = Load("SlipwayConfig", waiting=1, delayed=1, working=1, halted={"WaitingForOwner": 1})
    calls = {("GET", "Secret", 200): 1}
    registry.register(MetricsCollector(metrics, loads=lambda: [load], calls=lambda: calls))
    outcomes = Outcomes()
    outcomes.count(reportspb.REPORT_STATE_COMPLETE, "", before=(), phases=lambda: {"bootstrap": 1.0})
    registry.register(OutcomesCollector(outcomes))
    downloads = Downloads()
    downloads.count("payload", 200, Transfer(bytes=1), seconds=1.0)
    registry.register(DownloadsCollector(downloads))
    return samples(generate_latest(registry).decode())


def samples(text: str) -> Families:
    """Read an exposition: names of samples, and of metrics without a sample yet."""
    families: Families = {}
    metrics: list[Metric] = list(text_string_to_metric_families(text))
    for metric in metrics:
        suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(metric.type, ("",))
        for suffix in suffixes:
            families.setdefault(metric.name + suffix, set())
        for sample in metric.samples:
            families.setdefault(sample.name, set()).update(sample.labels)
    return families


@contextmanager
def running(command: list[str], *, listen: str = "--listen-address") -> Iterator[tuple[str, str]]:
    """Run a server whose gRPC listens by a flag; give the addresses of its metrics and of itself, once it answers."""
    metrics, address = (f"{LOOPBACK}:{free_port()}" for _ in range(2))
    flags = ["--insecure", f"{listen}={address}", f"--metrics-address={metrics}"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLIPWAY_")}
    argv = [sys.executable, "-m", command[0], *command[1:], *flags]
    with subprocess.Popen(argv, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            deadline = time.monotonic() + _READY_SECONDS
            with grpc.insecure_channel(address) as channel:
                grpc.channel_ready_future(channel).result(timeout=_READY_SECONDS)
            while not scraped(metrics):
                assert process.poll() is None, f"{command[0]} ended"
                assert time.monotonic() < deadline, f"{command[0]} serves no metrics"
            yield metrics, address
        finally:
            process.terminate()


def scraped(address: str) -> str:
    """Return an exposition, or "" while the server does not answer."""
    try:
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
            text: str = answer.read().decode()
            return text
    except urllib.error.URLError:
        return ""
