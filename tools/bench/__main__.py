"""Measure, print tables, and write out/bench.json."""

import asyncio
import json
import sys
import tempfile
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.credentials.entropy import SystemEntropy
from slipway.bootstrapper.credentials.ephemeral_store import EphemeralStore
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.documents.machines import MachineQuestion
from slipway.cli.output import console, table
from slipway.cli.processes import LocalServices
from slipway.cli.readiness import local_connection, wait_until_ready
from slipway.cli.remote import RemoteBackend
from slipway.cli.rendering import role_name
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub
from tools.bench.load import steady, watched
from tools.bench.process_figures import machine, rss_mib
from tools.bench.report import BUSY, page
from tools.bench.sections import PAGE, kept
from tools.bench.subjects import bare, largest, native, windows

OUT = Path("out/bench.json")
CALLS = 400
MODULES = {"cloud-init": "cloud_init", "ignition": "ignition", "talos": "talos", "windows": "windows"}


async def bench() -> dict[str, Any]:
    """Run all measurements."""
    with tempfile.TemporaryDirectory(prefix="slipway-bench-") as scratch:
        folder = Path(scratch)
        services = LocalServices(logs=folder / "logs", credentials=folder / "credentials")
        try:
            await services.start()
            started = await wait_until_ready(services)
            questions = [*native(), *bare(folder), *windows()]
            nothing = await _nothing(services)
            renders = await _renders(services, questions)
            users = await _user_data(services, questions)
            ordinary = _memory(services)
            largest_rows = await _largest(services)
            rss = {name: {"ordinary": before, "largest": _memory(services)[name]} for name, before in ordinary.items()}
        finally:
            await services.stop()
    return {
        "machine": machine(),
        "all_ready_seconds": round(started, 2),
        "rss_mib": rss,
        "nothing": nothing,
        "render": renders,
        "get_user_data": users["speed"],
        "size": users["size"],
        "largest": largest_rows,
    }


def _memory(services: LocalServices) -> dict[str, float]:
    return {name: rss_mib(process.handle.pid) for name, process in services.processes.items()}


async def _largest(services: LocalServices) -> list[dict[str, Any]]:
    """The largest questions, and how long health answers at worst meanwhile."""
    backend, channels = RemoteBackend(local_connection(services)), ChannelPool(tls=None, trust_domain="slipway")
    bootstrapper = services.processes["bootstrapper"]
    health = HealthStub(channels.get(bootstrapper.address, retries=False))
    rows = []
    try:
        for call, name in (("GetUserData", "cloud-init"), ("GetUserData", "ignition"), ("Explain", "")):
            subject = largest()
            subject.spec.provisioner.name = name
            question = (
                backend.user_data(bootstrappb.GetUserDataRequest(subject=subject, accept_attachments=True))
                if name
                else backend.explain(bootstrappb.ExplainRequest(subject=subject))
            )
            seconds, answer, worst = await watched(
                question, partial(invoke, health.Check, HealthCheckRequest(), timeout=60.0)
            )
            rows.append(
                {"call": call, "provisioner": name or "all", "spec_bytes": subject.spec.ByteSize(),
                 "answer_bytes": answer, "seconds": seconds, "health_worst_ms": worst}
            )  # fmt: skip
    finally:
        await backend.close()
        await channels.close()
    return rows


async def _nothing(services: LocalServices) -> dict[str, float]:
    """Ask a provisioner who it is, which takes it no work: what gRPC and our own server cost on this machine.

    Gives the milliseconds of the median with one call in flight, and of the server's CPU for each of many.
    """
    channels = ChannelPool(tls=None, trust_domain="slipway")
    process = services.processes["cloud-init"]
    stub = ProvisionerServiceStub(channels.get(process.address, retries=False))
    call = partial(invoke, stub.GetProvisionerInfo, provisionerpb.GetProvisionerInfoRequest(), timeout=10.0)
    try:
        single, many = [
            await steady(call, calls=CALLS, in_flight=in_flight, server_pid=process.handle.pid)
            for in_flight in (1, BUSY)
        ]
    finally:
        await channels.close()
    return {"p50": single.p50, "server_cpu_ms": round(1000 / many.per_server_cpu_second, 2)}


async def _renders(services: LocalServices, questions: list[MachineQuestion]) -> list[dict[str, Any]]:
    """Render over gRPC, each provisioner alone, with the very bundle that the bootstrapper sends."""
    bootstrapper = embedded_bootstrapper(store=EphemeralStore(SecretFactory(entropy=SystemEntropy(), clock=utc_now)))
    channels = ChannelPool(tls=None, trust_domain="slipway")
    rows = []
    try:
        for name in MODULES:
            process = services.processes[name]
            stub = ProvisionerServiceStub(channels.get(process.address, retries=False))
            for question in questions:
                question.subject.spec.provisioner.name = name
                try:
                    prepared = await bootstrapper.prepare(question.subject, secretpb.SecretMaterial())
                except SlipwayError:
                    continue
                request = provisionerpb.RenderRequest(
                    request_tag="bench",
                    bundle=prepared.compiled.bundle,
                    target=prepared.compiled.bundle.machine.target,
                    format=prepared.candidate.format.format,
                    accept_attachments=True,
                )
                for in_flight in (1, BUSY):
                    figures = await steady(
                        partial(invoke, stub.Render, request, timeout=10.0),
                        calls=CALLS, in_flight=in_flight, server_pid=process.handle.pid,
                    )  # fmt: skip
                    role = role_name(question.subject.machine.role)
                    rows.append(
                        {
                            "provisioner": name,
                            "machine": question.name,
                            "role": role,
                            "in_flight": in_flight,
                            **asdict(figures),
                        }
                    )
    finally:
        await channels.close()
    return rows


async def _user_data(services: LocalServices, questions: list[MachineQuestion]) -> dict[str, Any]:
    """GetUserData end to end, and the bytes that came."""
    backend = RemoteBackend(local_connection(services))
    pid = services.processes["bootstrapper"].handle.pid
    speed, size = [], []
    try:
        for name in MODULES:
            for question in questions:
                question.subject.spec.provisioner.name = name
                request = bootstrappb.GetUserDataRequest(subject=question.subject, accept_attachments=True)
                try:
                    answer = await backend.user_data(request)
                except SlipwayError:
                    continue
                role = role_name(question.subject.machine.role)
                keys = "RSA-2048" if question.subject.spec.HasField("imported") else "ECDSA P-256"
                size.append(
                    {"provisioner": name, "machine": question.name, "role": role, "keys": keys,
                     "raw": answer.size.raw_bytes, "gzip": answer.size.gzip_bytes}
                )  # fmt: skip
                figures = await steady(
                    partial(backend.user_data, request), calls=CALLS // 4, in_flight=1, server_pid=pid
                )
                speed.append({"provisioner": name, "machine": question.name, "role": role, **asdict(figures)})
    finally:
        await backend.close()
    return {"speed": speed, "size": size}


def main() -> None:
    """Measure, print, write out/bench.json; with --page also the reference page."""
    result = asyncio.run(bench())
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(result, indent=2) + "\n")
    if "--page" in sys.argv[1:]:
        PAGE.write_text(kept(page(result), PAGE.read_text()))
    screen = console()
    screen.print(f"{result['machine']}; all six processes ready after {result['all_ready_seconds']} s\n")
    for name in ("render", "get_user_data", "size", "largest"):
        rows = result[name]
        heads = list(rows[0])
        screen.print(table(name, heads, [[str(row[head]) for head in heads] for row in rows]))
    memory = [[name, *map(str, row.values())] for name, row in result["rss_mib"].items()]
    screen.print(table("resident memory, MiB", ["process", "ordinary", "largest"], memory))


if __name__ == "__main__":
    main()
