"""A registry of the suite's own: it grants short leases, remembers every call, and can be told to misbehave.

It shares no code with the real one, which has tests of its own; here it is the observer.
"""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import grpc
import grpc.aio
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from slipway.conformance.answer import DETAILS
from slipway.conformance.certificates import Credentials
from slipway.conformance.heartbeat import Heartbeat
from slipway.conformance.subject import SERVICE, Subject
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1.registry_service_pb2_grpc import RegistryServiceServicer, add_RegistryServiceServicer_to_server

TTL, RENEW_AFTER = 2.0, 0.7


@dataclass(frozen=True, slots=True)
class Call:
    """One call that came.

    Attributes:
        method: "Register", "RenewLease" or "Deregister".
        at: when, by the monotonic clock.
        request: what was asked.
        lease: the lease that it was about, or that was granted.
    """

    method: str
    at: float
    request: Any = field(repr=False)
    lease: str = ""


class OwnRegistry(RegistryServiceServicer):
    """The registry. Set `unavailable`, `forbidden` or `forget` to make it misbehave.

    Attributes:
        calls: all calls so far.
        unavailable: it answers every call with UNAVAILABLE.
        forbidden: it answers every registration with PERMISSION_DENIED.
        renew_after: what it tells next, in seconds.
        ttl: how long leases last, in seconds.
        dialled: for each registration, whether its endpoint was serving then; only after `dial_back`.
        serving_at_end: for each Deregister, whether the provisioner served by any name; only after `ask_health`.
    """

    def __init__(
        self, *, credentials: Credentials | None, host: str = "127.0.0.1", heartbeat: Heartbeat | None = None
    ) -> None:
        """Make it; nothing listens yet."""
        self._heartbeat = heartbeat or Heartbeat()
        self.calls: list[Call] = []
        self.unavailable = False
        self.forbidden = False
        self.renew_after = RENEW_AFTER
        self.ttl = TTL
        self.port = 0
        self.dialled: list[bool] = []
        self.serving_at_end: list[bool] = []
        self._dialling: tuple[Credentials | None] | None = None
        self._asked: Subject | None = None
        self._credentials = credentials
        self._host = host
        self._server: grpc.aio.Server | None = None
        self._leases: set[str] = set()
        self._numbers = itertools.count(1)
        self._epoch = 0
        self._news = asyncio.Event()

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"{self._host}:{self.port}"

    async def start(self) -> None:
        """Listen, on the same port as before if there was one. It has forgotten all leases."""
        self._epoch += 1
        self._leases.clear()
        self._server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        add_RegistryServiceServicer_to_server(self, self._server)
        wanted = f"127.0.0.1:{self.port}"
        if self._credentials is None:
            self.port = self._server.add_insecure_port(wanted)
        else:
            self.port = self._server.add_secure_port(wanted, self._credentials.server())
        await self._server.start()

    async def stop(self) -> None:
        """End at once."""
        if self._server is not None:
            await self._server.stop(None)
            self._server = None

    def dial_back(self, credentials: Credentials | None) -> None:
        """Dial every endpoint that is announced, as the real one does, before the answer."""
        self._dialling = (credentials,)

    def ask_health(self, subject: Subject) -> None:
        """Ask a provisioner's health at every Deregister."""
        self._asked = subject

    def forget(self) -> None:
        """Forget all leases: the next renewal gets NOT_FOUND."""
        self._leases.clear()

    def of(self, method: str, *, since: float = 0.0) -> list[Call]:
        """Give the calls of a method since a time."""
        return [call for call in self.calls if call.method == method and call.at >= since]

    async def until(self, condition: Callable[[], object], seconds: float, *, most: float | None = None) -> bool:
        """Wait until a condition on the calls holds; False when it did not in so many seconds.

        On a busy machine it waits longer, for at most so many seconds: see Heartbeat.
        """
        return await self._heartbeat.within(seconds, lambda left: self._until(condition, left), most=most)

    async def _until(self, condition: Callable[[], object], seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                while not condition():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            return bool(condition())
        return True

    async def Register(  # noqa: N802  # the contract's name
        self, request: registrypb.RegisterRequest, context: Any
    ) -> registrypb.RegisterResponse:
        """Grant a lease."""
        lease = f"lease-{next(self._numbers)}"
        self._note("Register", request, lease)
        if self._dialling is not None:
            self.dialled.append(await _serves(request.endpoint, self._dialling[0]))
            self._news.set()
        await self._misbehave(context)
        if self.forbidden:
            await refuse(context, grpc.StatusCode.PERMISSION_DENIED, "PROVISIONER_NOT_ALLOWED")
        self._leases.add(lease)
        answer = registrypb.RegisterResponse(lease_id=lease, registry_epoch=str(self._epoch))
        answer.ttl.FromMilliseconds(round(self.ttl * 1000))
        answer.renew_after.FromMilliseconds(round(self.renew_after * 1000))
        return answer

    async def RenewLease(  # noqa: N802  # the contract's name
        self, request: registrypb.RenewLeaseRequest, context: Any
    ) -> registrypb.RenewLeaseResponse:
        """Renew a lease that it holds."""
        self._note("RenewLease", request, request.lease_id)
        await self._misbehave(context)
        if request.lease_id not in self._leases:
            await refuse(context, grpc.StatusCode.NOT_FOUND, "LEASE_NOT_FOUND")
        answer = registrypb.RenewLeaseResponse(registry_epoch=str(self._epoch))
        answer.ttl.FromMilliseconds(round(self.ttl * 1000))
        answer.renew_after.FromMilliseconds(round(self.renew_after * 1000))
        return answer

    async def Deregister(  # noqa: N802  # the contract's name
        self, request: registrypb.DeregisterRequest, context: Any
    ) -> registrypb.DeregisterResponse:
        """End a lease."""
        del context
        if self._asked is not None:
            found = [await self._asked.serving(service) for service in ("", SERVICE)]
            self.serving_at_end.append(any(found))
        self._note("Deregister", request, request.lease_id)
        self._leases.discard(request.lease_id)
        return registrypb.DeregisterResponse()

    async def ListProvisioners(  # noqa: N802  # the contract's name
        self, request: registrypb.ListProvisionersRequest, context: Any
    ) -> registrypb.ListProvisionersResponse:
        """Give nothing: a provisioner has no business with the list."""
        del request, context
        return registrypb.ListProvisionersResponse()

    async def WatchProvisioners(  # noqa: N802  # the contract's name
        self, request: registrypb.WatchProvisionersRequest, context: Any
    ) -> AsyncIterator[registrypb.WatchProvisionersResponse]:
        """Give nothing, once."""
        del request, context
        yield registrypb.WatchProvisionersResponse()

    def _note(self, method: str, request: Any, lease: str) -> None:
        self.calls.append(Call(method, time.monotonic(), request, lease))
        self._news.set()

    async def _misbehave(self, context: Any) -> None:
        if self.unavailable:
            await refuse(context, grpc.StatusCode.UNAVAILABLE, "OVERLOADED")


async def _serves(endpoint: str, credentials: Credentials | None) -> bool:
    subject = Subject(endpoint, credentials)
    try:
        return (await subject.info()).ok and await subject.serving(SERVICE)
    finally:
        await subject.close()


async def refuse(context: Any, code: grpc.StatusCode, reason: str) -> None:
    """End a call with a code and a reason of the error table."""
    message = "the registry of the conformance suite refuses this on purpose"
    status = Status(code=code.value[0], message=message)
    status.details.add().Pack(ErrorInfo(reason=reason, domain="slipway.dev"))
    await context.abort(code, message, trailing_metadata=((DETAILS, status.SerializeToString()),))
