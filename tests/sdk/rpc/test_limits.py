"""What one caller can take from the others: neither places for calls, nor streams, nor health."""

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.contract.errors import BundleInvalid, DeadlineExceeded, ForeignStatus, Overloaded
from slipway.rpc import Channel
from slipway.rpc.admission import MAX_STREAMS_OF_CALLER
from slipway.rpc.channel import ChannelPool
from slipway.rpc.client import invoke, stream
from slipway.rpc.health import HealthServicer
from slipway.rpc.tls import CertificateFiles
from slipway.v1alpha1.reasons import Code
from tests.sdk.rpc.conftest import SERVICE, Probe, Running, settings, unary
from tests.services.certificates import Authority

EMPTY_SETTINGS = bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
MAX_CONCURRENT_STREAMS = 3
SERVING = health_pb2.HealthCheckResponse.SERVING


@asynccontextmanager
async def two_callers(running: Running, tmp_path: Path, **more: Any) -> AsyncIterator[tuple[Channel, Channel]]:
    """A server, and channels of two callers with certificates of one authority."""
    authority = Authority()
    given = settings(insecure=False, tls_cert_dir=authority.fill(tmp_path / "server"), **more)
    async with running(given) as (server, _), AsyncExitStack() as pools:
        channels = []
        for name in ("greedy", "other"):
            directory = authority.fill(tmp_path / name, uris=[f"spiffe://slipway/provisioner/{name}"])
            pool = ChannelPool(tls=CertificateFiles(directory), trust_domain="slipway")
            pools.push_async_callback(pool.close)
            channels.append(pool.get(f"localhost:{server.port}", retries=False))
        yield channels[0], channels[1]


async def health(channel: Channel) -> int:
    """The status that a server gives of itself."""
    answer = await invoke(health_pb2_grpc.HealthStub(channel).Check, health_pb2.HealthCheckRequest(), timeout=5)
    return int(answer.status)


def opened(channel: Channel) -> Any:
    """A call of a unary method whose request never comes."""
    return channel.stream_unary(f"/{SERVICE}/Echo")(timeout=60)


async def test_calls_without_a_request_take_nothing_from_others(running: Running, tmp_path: Path) -> None:
    """A caller that opens calls and sends nothing is refused at its own bound; calls and health of others go on."""
    async with two_callers(running, tmp_path, max_concurrent_calls=1) as (greedy, other):
        calls = [opened(greedy) for _ in range(66)]
        await asyncio.gather(*(call.wait_for_connection() for call in calls))
        with pytest.raises(Overloaded) as caught:
            await invoke(unary(greedy, "Echo"), b"", timeout=5)
        assert caught.value.metadata["limit"] == "66"
        assert await invoke(unary(other, "Echo"), b"x", timeout=5) == b"x"
        assert await health(other) == SERVING
        for call in calls:
            call.cancel()


async def test_a_request_must_arrive_in_time(running: Running, probe: Probe) -> None:
    """A call that was opened and sends nothing is ended by the server, though the caller would wait."""
    async with running(settings(max_call_seconds=0.05)) as (_, channel):
        with pytest.raises(DeadlineExceeded, match="did not arrive"):
            await invoke(lambda *_, **more: channel.stream_unary(f"/{SERVICE}/Echo")(**more), b"", timeout=20)
        assert not probe.seen


async def test_a_call_without_any_request_is_named(running: Running) -> None:
    """A caller that ends its side without a message learns what is wrong."""

    async def nothing() -> AsyncIterator[bytes]:
        for message in ():
            yield message

    async with running() as (_, channel):
        with pytest.raises(BundleInvalid, match="no request"):
            await invoke(lambda *_, **more: channel.stream_unary(f"/{SERVICE}/Echo")(nothing(), **more), b"", timeout=5)


async def test_a_request_of_another_type_is_named(running: Running) -> None:
    """Bytes that are no message of the method are the caller's fault, not a defect."""
    async with running() as (_, channel):
        with pytest.raises(BundleInvalid, match="not a message"):
            await invoke(channel.unary_unary("/grpc.health.v1.Health/Check"), b"\xff\xff", timeout=5)


async def test_streams_of_one_caller_are_bounded(running: Running, tmp_path: Path) -> None:
    """Neither streams of others nor unary calls wait for a caller that opens streams, health's included."""
    async with two_callers(running, tmp_path) as (greedy, other):
        watch = health_pb2_grpc.HealthStub(greedy).Watch
        streams = [stream(watch, health_pb2.HealthCheckRequest()) for _ in range(MAX_STREAMS_OF_CALLER)]
        await asyncio.gather(*(anext(each) for each in streams))
        for refused in (
            stream(watch, health_pb2.HealthCheckRequest()),
            stream(greedy.unary_stream(f"/{SERVICE}/Count"), b"1"),
        ):
            with pytest.raises(Overloaded):
                await anext(refused)
        assert await anext(stream(other.unary_stream(f"/{SERVICE}/Count"), b"1")) == b"0"
        assert await invoke(unary(greedy, "Echo"), b"x", timeout=5) == b"x"
        await streams[0].aclose()
        again = stream(watch, health_pb2.HealthCheckRequest())
        assert (await anext(again)).status == SERVING
        for each in (*streams, again):
            await each.aclose()


async def test_places_are_left_for_others(running: Running, probe: Probe, tmp_path: Path) -> None:
    """A caller with many slow calls leaves a quarter of the places to the others."""
    async with two_callers(running, tmp_path, max_concurrent_calls=4) as (greedy, other):
        calls = [asyncio.ensure_future(invoke(unary(greedy, "Wait"), b"", timeout=20)) for _ in range(4)]
        done, waiting = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        assert [type(call.exception()) for call in done] == [Overloaded]
        assert await invoke(unary(other, "Echo"), b"x", timeout=5) == b"x"
        probe.release.set()
        assert await asyncio.gather(*waiting) == [b""] * 3


async def test_the_plain_port_has_no_stream(running: Running, tmp_path: Path, unused_port: int) -> None:
    """Without a certificate a state can be asked and not watched; calls without a request do not stop a probe."""
    directory = Authority().fill(tmp_path)
    plain = ChannelPool(tls=None, trust_domain="slipway")
    given = settings(insecure=False, tls_cert_dir=directory, health_address=f"127.0.0.1:{unused_port}")
    async with running(given):
        channel = plain.get(f"127.0.0.1:{unused_port}", retries=False)
        for _ in range(3):
            with pytest.raises(ForeignStatus) as caught:
                await anext(stream(health_pb2_grpc.HealthStub(channel).Watch, health_pb2.HealthCheckRequest()))
            assert caught.value.code is Code.UNIMPLEMENTED
        assert await health(channel) == SERVING
        silent = channel.stream_unary("/grpc.health.v1.Health/Check")
        with pytest.raises(DeadlineExceeded):
            await invoke(lambda *_, **more: silent(**more), b"", timeout=20)
        assert await health(channel) == SERVING
        await plain.close()


async def test_a_watcher_that_does_not_read_stops_no_change() -> None:
    """A state changes and ends at once while a watcher holds the last answer back; it gets the newest one."""
    service = HealthServicer()
    service.set("x", serving=True)
    watch = service.Watch(health_pb2.HealthCheckRequest(service="x"), None)  # type: ignore[arg-type]  # it needs none
    assert (await anext(watch)).status == SERVING
    service.set("x", serving=False)
    service.set("x", serving=True)
    service.end()
    service.set("x", serving=True)
    assert (await anext(watch)).status == health_pb2.HealthCheckResponse.NOT_SERVING
    await watch.aclose()


async def test_one_connection_opens_a_bounded_number_of_calls(running: Running) -> None:
    """The server announces its bound: gRPC then stops a client that opens and resets calls without end by itself.

    Without it a single such client fills gRPC's own queue, and the calls of all others are cancelled unread.
    """
    async with running(settings(max_concurrent_calls=1)) as (server, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + EMPTY_SETTINGS)
        head = await reader.readexactly(9)
        announced = dict(struct.iter_unpack(">HI", await reader.readexactly(int.from_bytes(head[:3]))))
        writer.close()
        await writer.wait_closed()
    assert announced[MAX_CONCURRENT_STREAMS] == 2 * 1 + 64 + 8
