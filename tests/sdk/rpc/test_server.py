"""What every server does with every call, over a real socket."""

import asyncio
import json
from typing import Any

import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from slipway.contract.errors import (
    BundleInvalid,
    DeadlineExceeded,
    ForeignStatus,
    Internal,
    Overloaded,
    PermissionDenied,
    SlipwayError,
    UserDataTooLarge,
    VersionSkew,
)
from slipway.rpc.call import Call
from slipway.rpc.client import invoke, stream
from slipway.rpc.identity import Identity
from slipway.rpc.server import RpcServer, ServerStartError
from slipway.v1alpha1.reasons import Code
from tests.sdk.rpc.conftest import SERVICE, Probe, Running, settings, unary

CANARY = "S3CR3T-canary-%s-\u00fc"


async def test_a_call_goes_through_all_stages(running: Running) -> None:
    """The plain way works."""
    async with running() as (_, channel):
        assert await invoke(unary(channel, "Echo"), b"hello", timeout=60) == b"hello"


@pytest.mark.parametrize(
    ("sent", "kept", "reason"),
    [
        ("abc-123", True, "well formed: followed through all servers"),
        ("x" * 65, False, "too long"),
        ("a b", False, "could forge a log line"),
    ],
)
async def test_the_request_id_is_taken_over_when_well_formed(
    running: Running, probe: Probe, *, sent: str, kept: bool, reason: str
) -> None:
    """One id names a call in the logs of all servers, and in the error that the caller sees."""
    async with running() as (_, channel):
        with structlog.contextvars.bound_contextvars(request_id=sent), pytest.raises(BundleInvalid) as caught:
            await invoke(unary(channel, "Fail"), b"", timeout=60)
    assert (caught.value.metadata["request_id"] == sent) is kept, reason


async def test_an_unforeseen_exception_tells_nothing(
    running: Running, probe: Probe, capsys: pytest.CaptureFixture[str]
) -> None:
    """The caller gets INTERNAL and an id; the log has the id, class names and frames; neither has a value."""
    probe.failure = ValueError(CANARY)
    probe.failure.__cause__ = KeyError(CANARY)
    with structlog.testing.capture_logs() as logs:
        async with running() as (_, channel):
            with pytest.raises(Internal) as caught:
                await invoke(unary(channel, "Fail"), CANARY.encode(), timeout=60)
    (entry,) = [entry for entry in logs if entry["event"] == "call failed with an internal error"]
    assert entry["error_id"] == caught.value.metadata["error_id"]
    assert entry["error"] == ["ValueError", "KeyError"]
    assert "canary" not in json.dumps([logs, str(caught.value), caught.value.metadata]) + "".join(capsys.readouterr())


async def test_an_error_far_over_the_budget_arrives(running: Running, probe: Probe) -> None:
    """A large status would become RESOURCE_EXHAUSTED on its way; ours arrives as itself, with the count of the rest."""
    probe.failure = UserDataTooLarge(
        "\u00fc" * 100_000,
        violations=[(f"spec.files[{index}]", "x" * 300) for index in range(500)],
        metadata={"breakdown": "x" * 100_000, "size": "1"},
        retry_after=3,
    )
    async with running() as (_, channel):
        with pytest.raises(UserDataTooLarge) as caught:
            await invoke(unary(channel, "Fail"), b"", timeout=60)
    shown = len(caught.value.violations)
    assert shown > 0
    assert int(caught.value.metadata["truncated"]) == 500 - shown
    assert (caught.value.metadata["size"], caught.value.retry_after) == ("1", 3)


async def test_a_handlers_own_abort_passes(running: Running) -> None:
    """Services that are not ours (health) abort by themselves; that stays, and the log has the code."""
    with structlog.testing.capture_logs() as logs:
        async with running() as (_, channel):
            with pytest.raises(ForeignStatus, match="own abort") as caught:
                await invoke(unary(channel, "Abort"), b"", timeout=60)
            # The client has its answer before the server has logged the call.
            async with asyncio.timeout(60):
                while not (ended := [entry["code"] for entry in logs if entry["event"] == "call ended"]):  # noqa: ASYNC110  # logs are a list
                    await asyncio.sleep(0.01)
    assert caught.value.code is Code.OUT_OF_RANGE
    assert ended == ["OUT_OF_RANGE"]


async def test_an_unknown_method_is_named_version_skew(running: Running) -> None:
    """A caller with a newer contract learns what is served, and can fall back."""
    async with running() as (_, channel):
        for method in (unary(channel, "NotThere"), channel.unary_unary("/no.such.Service/Do")):
            with pytest.raises(VersionSkew) as caught:
                await invoke(method, b"", timeout=60)
            assert caught.value.metadata["served_services"] == f"grpc.health.v1.Health,{SERVICE}"
            assert caught.value.code is Code.UNIMPLEMENTED


async def test_more_calls_than_the_cap_are_refused_at_once(running: Running, probe: Probe) -> None:
    """Back-pressure has a reason of its own and a time to wait; health goes on; after release calls go in again."""
    async with running(settings(max_concurrent_calls=1)) as (_, channel):
        first = asyncio.ensure_future(invoke(unary(channel, "Wait"), b"1", timeout=20))
        await probe.entered.wait()
        with pytest.raises(Overloaded) as caught:
            await invoke(unary(channel, "Echo"), b"2", timeout=60)
        assert (caught.value.metadata["limit"], caught.value.retry_after) == ("1", 1.0)
        assert await _health(channel) == health_pb2.HealthCheckResponse.SERVING
        probe.release.set()
        assert await first == b"1"
        assert await invoke(unary(channel, "Echo"), b"3", timeout=60) == b"3"


async def test_the_server_bounds_calls_without_a_deadline(running: Running, probe: Probe) -> None:
    """Work stops when the server's own limit passes, though the caller would wait for ever."""
    async with running(settings(max_call_seconds=0.05)) as (_, channel):
        with pytest.raises(DeadlineExceeded):
            await invoke(unary(channel, "Wait"), b"", timeout=20)
        assert probe.cancelled.is_set()


async def test_a_caller_that_gives_up_frees_the_server(running: Running, probe: Probe) -> None:
    """Cancellation reaches the handler and nothing swallows it."""
    async with running(settings(max_concurrent_calls=1)) as (_, channel):
        call = asyncio.ensure_future(invoke(unary(channel, "Wait"), b"", timeout=20))
        await probe.entered.wait()
        call.cancel()
        await asyncio.wait_for(probe.cancelled.wait(), 60)
        probe.release.set()
        assert await invoke(unary(channel, "Echo"), b"x", timeout=60) == b"x"


async def test_a_stream_ends_with_our_error(running: Running, probe: Probe) -> None:
    """A generator's messages arrive in order, and its exception is mapped as that of a unary handler."""
    probe.release.set()
    async with running() as (_, channel):
        messages = stream(channel.unary_stream(f"/{SERVICE}/Count"), b"3")
        assert [await anext(messages) for _ in range(3)] == [b"0", b"1", b"2"]
        with pytest.raises(BundleInvalid):
            await anext(messages)


async def test_a_stream_that_is_left_is_closed_on_the_server(running: Running, probe: Probe) -> None:
    """A watcher that goes away frees its handler."""
    async with running() as (_, channel):
        messages = stream(channel.unary_stream(f"/{SERVICE}/Count"), b"1")
        assert await anext(messages) == b"0"
        await probe.entered.wait()
        await messages.aclose()
        await asyncio.wait_for(probe.cancelled.wait(), 60)


@pytest.mark.parametrize(
    ("more", "on", "reason"),
    [
        ({}, True, "on by default"),
        ({"production": True}, False, "off in production"),
        ({"production": True, "reflection": True}, True, "unless said"),
        ({"reflection": False}, False, "off when said"),
    ],
)
async def test_reflection_has_a_switch(running: Running, *, more: dict[str, Any], on: bool, reason: str) -> None:
    """A person with grpcurl can list the services where reflection is on, and only there."""

    async def requests() -> Any:
        yield reflection_pb2.ServerReflectionRequest(list_services="")

    async with running(settings(**more)) as (_, channel):
        call = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(requests(), timeout=60)
        try:
            (answer,) = [answer async for answer in call]
            names = {service.name for service in answer.list_services_response.service}
        except Exception:  # noqa: BLE001  # any failure counts
            names = set()
    assert (SERVICE in names) is on, reason
    assert ("grpc.health.v1.Health" in names) is on, reason


async def test_a_policy_decides_before_the_handler(running: Running, probe: Probe) -> None:
    """A call that is not allowed never reaches its handler; health is beyond the policy."""

    def nobody(call: Call, identity: Identity | None) -> None:
        assert identity is None
        raise PermissionDenied(f"{call.method} is not for you")

    async with running(policy=nobody) as (_, channel):
        with pytest.raises(PermissionDenied, match="Echo is not for you"):
            await invoke(unary(channel, "Echo"), b"", timeout=60)
        assert not probe.seen
        assert await _health(channel) == health_pb2.HealthCheckResponse.SERVING


async def test_health_is_told_per_service_and_on_a_port_of_its_own(running: Running) -> None:
    """A kubelet without certificates can ask; an unknown service is NOT_FOUND as the standard says."""
    async with running() as (server, channel):
        assert await _health(channel, SERVICE) == health_pb2.HealthCheckResponse.SERVING
        await server.health.set(SERVICE, serving=False)
        assert await _health(channel, SERVICE) == health_pb2.HealthCheckResponse.NOT_SERVING
        with pytest.raises(ForeignStatus) as caught:
            await _health(channel, "no.such.Service")
        assert caught.value.code is Code.NOT_FOUND


async def test_two_processes_cannot_share_a_port(running: Running, probe: Probe) -> None:
    """With so_reuseport the second server would take half of the first one's connections in silence."""
    async with running() as (server, _):
        second = RpcServer(settings(listen_address=f"127.0.0.1:{server.port}"), [probe.service()])
        with pytest.raises(ServerStartError, match="in use"):
            await second.start()


async def test_transport_failures_are_foreign(running: Running) -> None:
    """Nobody there: a status without a reason, worth a repeat."""
    async with running() as (server, channel):
        await server.stop(grace=0)
        with pytest.raises(SlipwayError) as caught:
            await invoke(unary(channel, "Echo"), b"", timeout=60)
    assert type(caught.value) is ForeignStatus
    assert (caught.value.code, caught.value.retryable) == (Code.UNAVAILABLE, True)


async def _health(channel: Any, service: str = "") -> int:
    stub = health_pb2_grpc.HealthStub(channel)
    answer = await invoke(stub.Check, health_pb2.HealthCheckRequest(service=service), timeout=60)
    return int(answer.status)
