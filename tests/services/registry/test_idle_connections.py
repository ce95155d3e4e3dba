"""Connections that say nothing, against a process that runs: none of its ports can take the files of the others."""

import asyncio
import contextlib
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.cli.processes import LOOPBACK
from slipway.contract.errors import SlipwayError
from slipway.rpc.addresses import free_port
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke

pytestmark = pytest.mark.long

_SOFT, _HARD = 256, 400
_CALLERS, _PROBES = _HARD // 2, _HARD // 4
_SECONDS = 60.0


@dataclass(frozen=True)
class Registry:
    """A registry that runs with few files, and its ports."""

    process: subprocess.Popen[bytes]
    calls: int
    probes: int
    metrics: int


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    """Start a registry that may have few open files."""
    calls, probes, metrics = free_port(), free_port(), free_port()
    flags = ["--insecure", f"--listen-address={LOOPBACK}:{calls}", f"--health-address={LOOPBACK}:{probes}"]
    flags += [f"--metrics-address={LOOPBACK}:{metrics}"]
    script = f'ulimit -Sn {_SOFT} && ulimit -Hn {_HARD} && exec "$@"'
    argv = ["bash", "-c", script, "bash", sys.executable, "-m", "slipway.registry", *flags]
    with (tmp_path / "log").open("wb") as log, subprocess.Popen(argv, stdout=log, stderr=log) as process:
        try:
            yield Registry(process, calls, probes, metrics)
        finally:
            process.terminate()
            process.wait(timeout=_SECONDS)


async def _serves(port: int) -> bool:
    """Ask for the health by a new connection."""
    pool = ChannelPool(tls=None, trust_domain="slipway")
    try:
        async with pool.once(f"{LOOPBACK}:{port}") as channel:
            stub = health_pb2_grpc.HealthStub(channel)
            answer = await invoke(stub.Check, health_pb2.HealthCheckRequest(), timeout=_SECONDS)
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)
    except (SlipwayError, ConnectionError):
        return False
    finally:
        await pool.close()


async def _starts(registry: Registry) -> None:
    """Wait until both ports answer."""
    async with asyncio.timeout(_SECONDS):
        while not (await _serves(registry.calls) and await _serves(registry.probes)):
            assert registry.process.poll() is None
            await asyncio.sleep(0.05)


def _is_accepted(connection: socket.socket) -> bool:
    """Whether the server greets; one that is refused is closed without a byte."""
    try:
        return connection.recv(1) != b""
    except ConnectionError:
        return False


def _metrics(port: int) -> bytes:
    with socket.create_connection((LOOPBACK, port), timeout=_SECONDS) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
        return connection.recv(15)


@pytest.mark.parametrize("port", ["calls", "probes"])
async def test_silent_connections_leave_files_for_the_other_ports(registry: Registry, port: str) -> None:
    """More connections than the process may have files, at one port: the surplus is closed, the other ports answer."""
    await _starts(registry)
    with contextlib.ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection((LOOPBACK, getattr(registry, port)), timeout=_SECONDS))
            for _ in range(_HARD + 50)
        ]
        accepted = sum(map(_is_accepted, connections))
        other = registry.probes if port == "calls" else registry.calls
        assert await _serves(other)
        assert _metrics(registry.metrics) == b"HTTP/1.1 200 OK"
        most = _CALLERS if port == "calls" else _PROBES
        assert most // 2 <= accepted < len(connections)
    await _starts(registry)
    assert registry.process.poll() is None


async def test_a_server_takes_the_files_that_it_may_have(registry: Registry) -> None:
    """The lower limit, which the process may raise by itself, does not bound its connections."""
    await _starts(registry)
    assert resource.prlimit(registry.process.pid, resource.RLIMIT_NOFILE) == (_HARD, _HARD)
