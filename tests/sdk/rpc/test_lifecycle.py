"""A process from start to end: drain loses no call and ends with an honest exit code."""

import asyncio
import contextlib
import os
import signal
import sys
from pathlib import Path

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.contract.errors import Draining, ForeignStatus
from slipway.rpc import Channel
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke, stream
from slipway.rpc.lifecycle import serve
from slipway.rpc.server import RpcServer, ServerStartError
from tests.sdk.rpc.conftest import SERVICE, Probe, settings, unary


class Process:
    """A server in this process, with the steps of its end noted in order."""

    def __init__(self, probe: Probe, **more: object) -> None:
        self.steps: list[str] = []
        self.stop = asyncio.Event()
        self._started: asyncio.Future[RpcServer] = asyncio.get_running_loop().create_future()
        self._pool = ChannelPool(tls=None, trust_domain="slipway")
        self.draining = asyncio.Event()
        self.task = asyncio.ensure_future(
            serve(
                settings(**more),
                [probe.service()],
                name="test",
                on_start=[self._on_start],
                on_drain=[self._broken, self._on_drain],
                stop=self.stop,
            )
        )

    async def channel(self) -> Channel:
        server = await self._started
        return self._pool.get(f"127.0.0.1:{server.port}", retries=False)

    async def end(self) -> None:
        await asyncio.wait_for(self.task, 10)
        await self._pool.close()

    async def _on_start(self, server: RpcServer) -> None:
        self._started.set_result(server)

    async def _broken(self) -> None:
        raise RuntimeError("a step that fails")

    async def _on_drain(self) -> None:
        stub = health_pb2_grpc.HealthStub(await self.channel())
        answer = await invoke(stub.Check, health_pb2.HealthCheckRequest(service=SERVICE), timeout=5)
        self.steps.append("deregistered while " + health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status))
        self.draining.set()


async def test_a_call_in_flight_ends_well_while_the_server_drains(probe: Probe) -> None:
    """NOT_SERVING, then deregister (a failing step stops nothing), then the call in flight gets its answer."""
    process = Process(probe)
    channel = await process.channel()
    call = asyncio.ensure_future(invoke(unary(channel, "Wait"), b"answer", timeout=20))
    await probe.entered.wait()
    process.stop.set()
    await asyncio.wait_for(process.draining.wait(), 60)
    probe.release.set()
    assert await call == b"answer"
    await asyncio.wait_for(process.task, 10)
    assert process.steps == ["deregistered while NOT_SERVING"]
    with pytest.raises(ForeignStatus):
        await invoke(unary(channel, "Echo"), b"", timeout=5)
    await process.end()
    with pytest.raises(ForeignStatus, match="closed meanwhile"):
        await invoke(unary(channel, "Echo"), b"", timeout=5)


async def test_calls_are_served_while_the_end_spreads(probe: Probe) -> None:
    """Between NOT_SERVING and the end callers that do not know yet are served; a second signal cuts the wait."""
    process = Process(probe, drain_propagation_seconds=600)
    channel = await process.channel()
    process.stop.set()
    await asyncio.wait_for(process.draining.wait(), 60)
    assert await invoke(unary(channel, "Echo"), b"x", timeout=5) == b"x"
    process.stop.set()
    await process.end()


async def test_a_call_beyond_the_grace_is_cancelled(probe: Probe) -> None:
    """The end is bounded; the caller sees UNAVAILABLE and may repeat elsewhere."""
    process = Process(probe, drain_grace_seconds=0.05)
    channel = await process.channel()
    call = asyncio.ensure_future(invoke(unary(channel, "Wait"), b"", timeout=20))
    await probe.entered.wait()
    process.stop.set()
    with pytest.raises(ForeignStatus) as caught:
        await call
    assert caught.value.retryable
    assert probe.cancelled.is_set()
    await process.end()


async def test_streams_end_with_draining(probe: Probe) -> None:
    """A watcher is told to go elsewhere at once instead of holding the server for the whole grace time."""
    process = Process(probe)
    channel = await process.channel()
    messages = stream(channel.unary_stream(f"/{SERVICE}/Count"), b"1")
    assert await anext(messages) == b"0"
    process.stop.set()
    with pytest.raises(Draining) as caught:
        await anext(messages)
    assert caught.value.retry_after == 1.0
    await process.end()


async def test_a_start_that_fails_ends_the_server(probe: Probe, unused_port: int) -> None:
    """No half-started process: a failing step of the start closes what was opened and is told."""

    async def broken(server: RpcServer) -> None:
        raise ServerStartError("no registry")

    given = settings(listen_address=f"127.0.0.1:{unused_port}")
    for _ in range(2):
        with pytest.raises(ServerStartError, match="no registry"):
            await serve(given, [probe.service()], name="test", on_start=[broken], stop=asyncio.Event())


_PROGRAM = """
import asyncio, sys
import slipway.rpc.lifecycle as lifecycle
from slipway.rpc.logs import configure_logging
from slipway.rpc.settings import ServerSettings
configure_logging(log_format="json")
async def started(server):
    print("started", flush=True)
async def crash(server):
    raise ValueError("canary")
on_start = [crash if "--crash" in sys.argv else started]
lifecycle.run(lifecycle.serve(ServerSettings(), [], name="test", on_start=on_start))
"""


@contextlib.asynccontextmanager
async def _program(*arguments: str, **more: str) -> asyncio.subprocess.Process:  # type: ignore[misc]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _PROGRAM,
        *arguments,
        env={**os.environ, "SLIPWAY_INSECURE": "true", "SLIPWAY_LISTEN_ADDRESS": "127.0.0.1:0", **more},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_process_with_0(number: signal.Signals) -> None:
    """What a kubelet does, and what a person does, ends it in order."""
    async with _program() as process:
        assert process.stdout is not None
        assert await process.stdout.readline() == b"started\n"
        process.send_signal(number)
        _, errors = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0
    assert b'"stopped"' in errors


async def test_a_crash_ends_the_process_with_1_and_no_value() -> None:
    """The exit code is honest; the log names class and frames, not the text."""
    async with _program("--crash") as process:
        output, errors = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 1
    assert b"ValueError" in errors
    assert b"canary" not in output + errors
    assert b"Traceback" not in errors


async def test_a_busy_port_is_one_line(unused_port: int, probe: Probe) -> None:
    """A person reads which address and why, and the exit code is not 0."""
    address = f"127.0.0.1:{unused_port}"
    server = RpcServer(settings(listen_address=address), [probe.service()])
    await server.start()
    async with _program(SLIPWAY_LISTEN_ADDRESS=address) as process:
        _, errors = await asyncio.wait_for(process.communicate(), 20)
    await server.stop(grace=0)
    assert process.returncode == 1
    assert b"cannot listen on " + address.encode() in errors
    assert b"Traceback" not in errors
