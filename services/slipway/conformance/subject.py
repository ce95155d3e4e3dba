"""The provisioner under test, as a caller sees it: plain gRPC, every answer with all that it carries."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc

from slipway.conformance.answer import Answer, answer
from slipway.conformance.certificates import Credentials
from slipway.conformance.exchanges import Exchanges
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.outcome import Broken, CheckEnd, Crashed, Unjudged
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1.provisioner_service_pb2_grpc import ProvisionerServiceStub

SERVICE = provisionerpb.DESCRIPTOR.services_by_name["ProvisionerService"].full_name
INFO_SECONDS, RENDER_SECONDS = 2.0, 10.0
PATIENCE = 3.0
"""How much longer than its deadline a call may take on a busy machine before that counts."""

OVERLOADED_SECONDS = 10.0
"""How long calls are repeated that a provisioner refuses as too many, as the contract lets it."""

MOST_HUNG = 3
MOST_UNJUDGED = 4
"""Of renders that did not end on a machine too slow to blame the provisioner, each costs four times the deadline."""

_QUICK_AGAIN = 0.1
"""Where a second try takes less than so much of the time of a first one that did not end, the first one hung."""

_WORTH_A_TRY = 1.05
"""A call that did not end is made again where the machine needs so many times its time: less is not the cause."""

_TOO_SLOW = 1 / _QUICK_AGAIN / 3
"""Where a machine is so many times slower than usual, it may have been three times slower still during the first."""

HANGS = f"{MOST_HUNG} renders did not end within {RENDER_SECONDS:.0f} seconds, so no more are asked for"
UNJUDGED_HANGS = f"{MOST_UNJUDGED} renders did not end, on a machine that is too slow to judge: no more are asked for"

_OPTIONS = [("grpc.use_local_subchannel_pool", 1), ("grpc.enable_retries", 0)]


class Subject:
    """One endpoint.

    Attributes:
        endpoint: where it is.
        credentials: what is shown to it.
        hung: how many times renders did not end in the time that the contract gives them.
        unjudged: how many times they did not, and the machine may be the cause.
        exchanges: the last renders.
    """

    def __init__(
        self,
        endpoint: str,
        credentials: Credentials | None,
        *,
        heartbeat: Heartbeat | None = None,
        overloaded_seconds: float = OVERLOADED_SECONDS,
    ) -> None:
        """Call the endpoint; without credentials in plain text.

        With a heartbeat, a render that does not end counts only while this machine is not busy. Calls that are refused
        as too many are repeated for `overloaded_seconds`.
        """
        self._overloaded_seconds = overloaded_seconds
        self.hung = self.unjudged = 0
        self._counted = 0.0
        self.exchanges = Exchanges()
        self._heartbeat = heartbeat or Heartbeat()
        self.endpoint = endpoint
        self.credentials = credentials
        self._channel = open_channel(endpoint, credentials)
        self._stub = ProvisionerServiceStub(self._channel)

    def reopened(self) -> "Subject":
        """Give the same endpoint by a new connection, with what is remembered of it."""
        again = Subject(self.endpoint, self.credentials, heartbeat=self._heartbeat)
        again.hung, again.unjudged, again._counted = self.hung, self.unjudged, self._counted
        again.exchanges = self.exchanges
        return again

    async def close(self) -> None:
        """End the connection."""
        await self._channel.close()

    async def info(self, contract_version: str = "v1alpha1") -> Answer:
        """Call GetProvisionerInfo."""
        request = provisionerpb.GetProvisionerInfoRequest(contract_version=contract_version)
        return await self._repeated(lambda: self._answer(self._stub.GetProvisionerInfo, request))

    async def patient_info(self) -> Answer:
        """Ask who it is; on a busy machine, where no answer came in time, three times."""
        since = time.monotonic()
        got = await self.info()
        for _ in range(2):
            if got.code == "DEADLINE_EXCEEDED" and self._heartbeat.said(since):
                got = await self.info()
        return got

    async def render(
        self, request: provisionerpb.RenderRequest, *, seconds: float | None = None, repeat: bool = True
    ) -> Answer:
        """Call Render, by the contract's deadline unless said otherwise; repeat it while it is refused as too many.

        Raises:
            Broken: several have not ended already, and each one more would cost as much time.
            Unjudged: several have not, on a machine that may be the cause.
        """
        if self.hangs:
            raise Broken(HANGS)
        if self.given_up is not None:
            raise self.given_up
        if repeat:
            return await self._repeated(lambda: self.render(request, seconds=seconds, repeat=False))
        since = time.monotonic()
        deadline = RENDER_SECONDS if seconds is None else seconds
        got = await self._answer(self._stub.Render, request, seconds=deadline)
        # Those of one time count as one.
        if deadline >= RENDER_SECONDS and since >= self._counted:
            self._count(got, deadline, since)
        self.exchanges.add(request, got)
        return got

    async def give_up(self, request: provisionerpb.RenderRequest, seconds: float) -> None:
        """Call Render, and wait for its answer no longer than so many seconds, however slow this machine is."""
        await answer(self._stub.Render, request, seconds=seconds)

    def _count(self, got: Answer, seconds: float, since: float) -> None:
        """Count a render that did not end; where the machine may be the cause, apart."""
        if self._did_not_end(got, seconds, since):
            self.hung += 1
        elif got.code == "DEADLINE_EXCEEDED":
            self.unjudged += 1
        else:
            return
        self._counted = time.monotonic()

    def _did_not_end(self, got: Answer, seconds: float, since: float) -> bool:
        """Whether a render did not end, and not since this machine is too busy: or else no second try is so quick."""
        if got.again and got.seconds < seconds * _QUICK_AGAIN:
            return self._heartbeat.late(since) < seconds / 2 and self._heartbeat.slowness() < _TOO_SLOW
        # A second try had the time that this machine needs, or it is not judged.
        busy = self._heartbeat.unjudged(since) or (self._heartbeat.said(since) and not got.again)
        return got.code == "DEADLINE_EXCEEDED" and not busy

    @property
    def hangs(self) -> bool:
        """Whether so many renders did not end that no more are asked for."""
        return self.hung >= MOST_HUNG

    @property
    def given_up(self) -> CheckEnd | None:
        """How the check ends that came upon the last render that is asked for; None while more are."""
        if self.hangs:
            # That binds, whichever check comes upon it. Only renders count that the machine was not too slow for.
            return Crashed(HANGS)
        return Unjudged(UNJUDGED_HANGS) if self.unjudged >= MOST_UNJUDGED else None

    async def rendered(self, request: provisionerpb.RenderRequest) -> provisionerpb.RenderResponse:
        """Call Render and give the response.

        Raises:
            Broken: it was refused.
        """
        got = await self.render(request)
        if not isinstance(got.response, provisionerpb.RenderResponse):
            raise Broken(f"{request.format}: Render ended with {got.described()}{_named(got)}")
        return got.response

    async def health(self, service: str) -> Answer:
        """Ask the health service; the response has a status."""
        stub = health_pb2_grpc.HealthStub(self._channel)
        return await self._answer(stub.Check, health_pb2.HealthCheckRequest(service=service))

    async def serving(self, service: str = "") -> bool:
        """Whether health says that it serves."""
        return self.serves(await self.health(service))

    @staticmethod
    def serves(got: Answer) -> bool:
        """Whether this answer of the health service says that it serves."""
        return got.ok and bool(got.response.status == health_pb2.HealthCheckResponse.SERVING)

    async def call(self, method: str, payload: bytes = b"") -> Answer:
        """Call any method by its path, with raw bytes."""
        unary = self._channel.unary_unary(method, request_serializer=bytes, response_deserializer=bytes)
        return await self._answer(unary, payload)

    async def reachable(self, seconds: float) -> bool:
        """Wait until the endpoint answers, at most so long."""
        try:
            async with asyncio.timeout(seconds):
                await self._channel.channel_ready()
        except TimeoutError:
            return False
        return True

    async def _answer(
        self, method: Callable[..., Any], request: Message | bytes, *, seconds: float = INFO_SECONDS + PATIENCE
    ) -> Answer:
        """Call a method; on a slow machine once more, with the time that it needs, where no answer came."""
        since = time.monotonic()
        got = await answer(method, request, seconds=seconds)
        # How slow the machine is takes some milliseconds to find out.
        longer = self._heartbeat.longer(seconds, since) if got.code == "DEADLINE_EXCEEDED" else 0.0
        if longer > seconds * _WORTH_A_TRY:
            got = replace(await answer(method, request, seconds=longer), again=True)
            self._heartbeat.repeat(seconds)
        if got.code == "DEADLINE_EXCEEDED":
            self._heartbeat.fail(seconds, since)
        return got

    async def _repeated(self, call: Callable[[], Awaitable[Answer]]) -> Answer:
        """Give the first answer that is not "too many calls"; that one when it comes for too long."""
        until = time.monotonic() + self._overloaded_seconds
        while (got := await call()).overloaded and time.monotonic() < until:
            delay = got.retry_info.retry_delay.ToTimedelta().total_seconds() if got.retry_info else 0.0
            await asyncio.sleep(min(max(delay, 0.05), 1.0))
        return got


def open_channel(endpoint: str, credentials: Credentials | None) -> grpc.aio.Channel:
    """Open a channel of its own to an endpoint."""
    if credentials is None:
        return grpc.aio.insecure_channel(endpoint, options=_OPTIONS)
    options = list(_OPTIONS)
    if credentials.server_name:
        options.append(("grpc.ssl_target_name_override", credentials.server_name))  # type: ignore[arg-type]
    return grpc.aio.secure_channel(endpoint, credentials.channel(), options=options)


def _named(got: Answer) -> str:
    return f" at {', '.join(got.fields[:3])}" if got.fields else ""
