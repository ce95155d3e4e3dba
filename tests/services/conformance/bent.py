"""A provisioner in this process of which every part can be bent, and a launcher that starts it as if it were a process.

The parts are plain gRPC around the SDK's core, so that a mutant can break what the SDK would never let through.
"""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
from google.rpc.status_pb2 import Status
from grpc_health.v1 import health_pb2_grpc
from grpc_health.v1.health import aio as health_aio

from slipway.conformance.answer import DETAILS
from slipway.conformance.launcher import Setup
from slipway.conformance.subject import SERVICE
from slipway.contract.errors import SlipwayError
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.rpc.addresses import is_loopback
from slipway.rpc.channel import ChannelPool
from slipway.rpc.tls import CertificateFiles
from slipway.sdk import Provisioner, ProvisionerCore
from slipway.sdk.lease import LeaseKeeper
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioner_service_pb2_grpc as provisionergrpc

SERVING, NOT_SERVING = 1, 2
Request = provisionerpb.RenderRequest
Response = provisionerpb.RenderResponse


async def _nothing(*_: Any) -> None:
    """Bend nothing."""


@dataclass(frozen=True, slots=True)
class Bent:
    """How a provisioner deviates from the contract; without arguments, in nothing.

    Attributes:
        provisioner: what renders.
        info: changes what it says of itself.
        before: changes a request before it is rendered; may raise, sleep, or abort.
        after: changes a response.
        error: changes the status of a refusal.
        refuse: errors that are rendered all the same, by reason: what the core refuses is asked for again, changed.
        health: serves health; None for no health service at all.
        process: how its process lives.
    """

    provisioner: Callable[[], Provisioner] = CloudInit
    info: Callable[[provisionerpb.GetProvisionerInfoResponse, str], None] = lambda info, caller: None
    before: Callable[[Request, Any], Awaitable[None]] = _nothing
    after: Callable[[Request, Response], None] = lambda request, response: None
    error: Callable[[Request, Status], None] = lambda request, status: None
    process: "Life" = field(default_factory=lambda: Life())  # noqa: PLW0108  # it is defined below
    call: Callable[["Servicer", Request, Any], Awaitable[Response]] | None = None


class Servicer(provisionergrpc.ProvisionerServiceServicer):
    """The two calls."""

    def __init__(self, bent: Bent, output: bytearray) -> None:
        self.bent = bent
        self.output = output
        self.core = ProvisionerCore(bent.provisioner())

    async def GetProvisionerInfo(self, request: Any, context: Any) -> provisionerpb.GetProvisionerInfoResponse:  # noqa: N802
        info = provisionerpb.GetProvisionerInfoResponse()
        info.CopyFrom(self.core.info)
        self.bent.info(info, request.contract_version)
        return info

    async def Render(self, request: Request, context: Any) -> Response:  # noqa: N802
        if self.bent.call is not None:
            return await self.bent.call(self, request, context)
        return await self.rendered(request, context)

    async def rendered(self, request: Request, context: Any) -> Response:
        """Render as the core does, with what is bent around it."""
        asked = Request()
        asked.CopyFrom(request)
        await self.bent.before(asked, context)
        try:
            response = self.core.render_now(asked)
        except SlipwayError as error:
            status = error.to_status()
            self.bent.error(request, status)
            await abort(context, status)
            raise
        response.request_tag = request.request_tag
        self.bent.after(request, response)
        return response


async def abort(context: Any, status: Status, *, rich: bool = True) -> None:
    """End a call with a status."""
    codes = {code.value[0]: code for code in grpc.StatusCode}
    trailers = ((DETAILS, status.SerializeToString()),) if rich else ()
    await context.abort(codes[status.code], status.message, trailing_metadata=trailers)


class Life:
    """The life of the process; a mutant overrides one of its parts."""

    def refusal(self, setup: Setup) -> bool:
        """Whether it refuses to start."""
        neither = setup.tls_cert_dir is None and not setup.insecure
        both = setup.tls_cert_dir is not None and setup.insecure
        public = setup.insecure and not is_loopback(str(setup.listen))
        return neither or both or public or self.without_files(setup) or self.lost_for_words(setup)

    def lost_for_words(self, setup: Setup) -> bool:
        """Whether it is told something that it does not understand."""
        word = (setup.environment or {}).get("SLIPWAY_INSECURE", "")
        return word not in ("", "true", "false") or bool(setup.more_flags)

    def without_files(self, setup: Setup) -> bool:
        """Whether its certificates are missing."""
        return setup.tls_cert_dir is not None and not (setup.tls_cert_dir / "tls.crt").is_file()

    def heard(self, setup: Setup) -> Setup:
        """Give what it understands of what it was told."""
        return setup

    def health(self) -> Any:
        """Give the health service; None for none."""
        return health_aio.HealthServicer()

    def credentials(self, folder: Path) -> grpc.ServerCredentials:
        """Give the credentials of its server."""
        from slipway.rpc.tls import server_credentials

        return server_credentials(CertificateFiles(folder))

    def keeper(self, channels: ChannelPool, setup: Setup, *, name: str) -> Any:
        """Give what keeps its lease."""
        return LeaseKeeper(channels, str(setup.registry), name=name, endpoint=str(setup.listen))

    def add(self, server: grpc.aio.Server) -> None:
        """Add further services to its server."""

    def front(self, listen: str) -> str:
        """Give where the server itself listens, when something else listens in front of it."""
        return listen

    async def before_server(self, keeper: Any) -> None:
        """Do something before it serves."""

    async def drain(self, health: Any, keeper: Any, server: grpc.aio.Server) -> int:
        """End, and give the exit code."""
        if health is not None:
            await health.enter_graceful_shutdown()
        if keeper is not None:
            await keeper.stop()
        await server.stop(10)
        return 0

    async def close(self) -> None:
        """Clean up."""

    def memory(self, renders: int) -> int:
        """Give the bytes that it holds after so many renders."""
        return 50_000_000


class InProcess:
    """Starts bent provisioners in this process."""

    def __init__(self, bent: Bent | None = None) -> None:
        self.bent = bent or Bent()

    async def start(self, setup: Setup) -> "RunningHere":
        running = RunningHere(self.bent, setup)
        await asyncio.sleep(0)
        return running


class RunningHere:
    """One of them, as a process looks from outside."""

    def __init__(self, bent: Bent, setup: Setup) -> None:
        self._bent = bent
        self._output = bytearray()
        self._stop = asyncio.Event()
        self.servicer = Servicer(bent, self._output)
        self.renders = 0
        self._task = asyncio.ensure_future(self._live(setup))

    @property
    def memory(self) -> int:
        self.renders += 1
        return self._bent.process.memory(self.renders)

    def output(self) -> bytes:
        return bytes(self._output)

    def terminate(self) -> None:
        self._stop.set()

    async def ended(self, seconds: float) -> int | None:
        await asyncio.wait([self._task], timeout=seconds)
        return self._task.result() if self._task.done() else None

    async def kill(self) -> None:
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    async def _live(self, told: Setup) -> int:
        life = self._bent.process
        setup = life.heard(told)
        if life.refusal(setup):
            return 2
        channels = ChannelPool(
            tls=None if setup.tls_cert_dir is None else CertificateFiles(setup.tls_cert_dir), trust_domain="slipway"
        )
        server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
        provisionergrpc.add_ProvisionerServiceServicer_to_server(self.servicer, server)
        health = life.health()
        keeper: Any = None
        try:
            if health is not None:
                health_pb2_grpc.add_HealthServicer_to_server(health, server)
                for service in ("", SERVICE):
                    await health.set(service, SERVING)
            life.add(server)
            if setup.registry is not None:
                keeper = life.keeper(channels, setup, name=self.servicer.core.info.name)
                await life.before_server(keeper)
            address = life.front(str(setup.listen))
            try:
                if setup.insecure:
                    server.add_insecure_port(address)
                else:
                    server.add_secure_port(address, life.credentials(Path(str(setup.tls_cert_dir))))
            except RuntimeError:
                return 1
            await server.start()
            if keeper is not None:
                keeper.start()
            await self._stop.wait()
            return await life.drain(health, keeper, server)
        except SlipwayError:
            return 1
        finally:
            if keeper is not None and getattr(keeper, "_task", None) is not None:
                keeper._task.cancel()
            await server.stop(0)
            await channels.close()
            await life.close()


def environment() -> dict[str, str]:
    """Give this process's environment, for tests that start real processes."""
    return dict(os.environ)
