"""A gRPC server with everything that each of our servers has: TLS, limits, stages, health, reflection."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import grpc
import grpc.aio
import structlog
from google.protobuf.descriptor import ServiceDescriptor

from slipway.rpc.admission import Admission, Deadline
from slipway.rpc.call import Stage
from slipway.rpc.chain import Chain
from slipway.rpc.error_mapping import map_errors
from slipway.rpc.file_limit import ConnectionLimits
from slipway.rpc.health import SERVICE as HEALTH
from slipway.rpc.health import Health
from slipway.rpc.identity import Authorisation, Policy, allow_all
from slipway.rpc.presence import Presence
from slipway.rpc.request_scope import request_scope
from slipway.rpc.settings import ServerSettings
from slipway.rpc.telemetry import Recorder, Telemetry
from slipway.rpc.tls import CertificateFiles, server_credentials

MAX_MESSAGE_BYTES = 4 * 1024 * 1024
"""gRPC's own default in every language, so that no client needs an option."""

_OPTIONS = (
    # Else a second process binds the same port in silence and takes half of the connections.
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", 60_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.min_ping_interval_without_data_ms", 30_000),
)
_CALLERS = (
    # What does not get through TLS and the greeting of HTTP/2 in this time has no place.
    ("grpc.server_handshake_timeout_ms", 10_000),
    # gRPC cancels calls of every client at random while more than the first number wait to be taken, 1,000 if not
    # set. One caller's burst over many connections reaches that before it has been refused. 8,000 wait in some 100 MB.
    ("grpc.server.max_pending_requests", 4_000),
    ("grpc.server.max_pending_requests_hard_limit", 8_000),
    # Clients behind one address come back and find new instances.
    ("grpc.max_connection_age_ms", 300_000),
    ("grpc.max_connection_age_grace_ms", 30_000),
)
_PROBES = (
    # Anybody may connect here, without a certificate, so nothing stays long.
    ("grpc.server_handshake_timeout_ms", 2_000),
    ("grpc.max_connection_idle_ms", 10_000),
    ("grpc.max_connection_age_ms", 60_000),
    ("grpc.max_connection_age_grace_ms", 5_000),
    ("grpc.max_concurrent_streams", 8),
)
_MOST_STREAMS = "grpc.max_concurrent_streams"
_MOST_CONNECTIONS = "grpc.max_allowed_incoming_connections"
_PROBE_SECONDS = 2.0
_PROBES_OF_HOST = 16
_ALLOWANCE = 1024
"""Calls beside the unary ones that the server takes: streams, questions of health, and what is about to be refused."""

_OPEN_BESIDE = 64
"""Calls that a caller may have open beside twice its unary ones."""

_REFUSED_AT_ONCE = 8
"""Calls of one connection beyond those of a caller, so that these are refused with a reason and not held back."""

_ARRIVAL_SECONDS = 10.0
"""In this time a request must have come, 4 MiB at most."""

_log = structlog.get_logger("slipway.rpc")


class ServerStartError(Exception):
    """The server cannot start; the text says which setting to change."""


@dataclass(frozen=True, slots=True)
class Service:
    """One service of a server: its full name and how it is added."""

    name: str
    add: Callable[[grpc.aio.Server], None]

    @classmethod
    def of(cls, descriptor: ServiceDescriptor, add: Callable[[Any, Any], None], servicer: object) -> "Service":
        """Make it from generated code: ``pb.DESCRIPTOR.services_by_name[...]``, ``add_..._to_server``, a servicer."""
        return cls(name=descriptor.full_name, add=lambda server: add(servicer, server))


class RpcServer:
    """One server. ``start``, then ``stop``; see lifecycle.serve for the whole life of a process.

    Attributes:
        settings: what it was made with.
        health: its health; NOT_SERVING until it is set.
        port: the port that it listens on, 0 before ``start``.
    """

    def __init__(
        self,
        settings: ServerSettings,
        services: Sequence[Service],
        *,
        policy: Policy = allow_all,
        recorders: Sequence[Recorder] = (),
    ) -> None:
        """Make it; nothing listens yet."""
        self.settings = settings
        self.health = Health(service.name for service in services)
        self.port = 0
        self._services = tuple(services)
        self._recorders = tuple(recorders)
        self._most_open = settings.max_concurrent_calls * 2 + _OPEN_BESIDE
        self._admission = Admission(limit=settings.max_concurrent_calls)
        self._outer: tuple[Stage, ...] = (
            request_scope,
            Telemetry(self._recorders),
            map_errors,
            Presence(limit=self._most_open),
            Authorisation(policy),
        )
        self._inner: tuple[Stage, ...] = (self._admission, Deadline(limit=settings.max_call_seconds))
        self._servers: list[grpc.aio.Server] = []

    @property
    def address(self) -> str:
        """Where others reach it."""
        return self.settings.advertised(port=self.port)

    async def start(self) -> None:
        """Listen. Health says NOT_SERVING until it is set.

        Raises:
            ServerStartError: an address cannot be listened on.
            TlsFilesError: the certificate directory cannot be used.
        """
        await self.health.set_all(serving=False)
        server = self._main_server()
        self.port = self._bind(server, self.settings.listen_address, plain=self.settings.insecure)
        self._servers.append(server)
        if self.settings.health_address is not None:
            probe = _probe_server()
            self.health.add_checks_to(probe)
            self._bind(probe, self.settings.health_address, plain=True)
            self._servers.append(probe)
        for each in self._servers:
            await each.start()
        _log.info("listening", address=self.address, service=[service.name for service in self._services])

    async def stop(self, *, grace: float) -> None:
        """Take no new calls, end streams, give calls in flight ``grace`` seconds, then end."""
        await self.health.end()
        self._admission.close()
        for server in self._servers:
            await server.stop(grace)
        for recorder in self._recorders:
            recorder.close()

    def _main_server(self) -> grpc.aio.Server:
        names = [*(service.name for service in self._services), HEALTH]
        server = grpc.aio.server(
            interceptors=[
                Chain(
                    self._outer,
                    self._inner,
                    served_services=names,
                    arrival=min(_ARRIVAL_SECONDS, self.settings.max_call_seconds),
                )
            ],
            options=(
                *_OPTIONS,
                *_CALLERS,
                (_MOST_CONNECTIONS, ConnectionLimits.of_process().callers),
                # A client keeps to it, and the call that is refused is seen. Who does not, and opens and resets calls
                # without end, is stopped by gRPC before these fill its queue, and others' calls are refused.
                (_MOST_STREAMS, self._most_open + _REFUSED_AT_ONCE),
            ),
            maximum_concurrent_rpcs=self.settings.max_concurrent_calls * 4 + _ALLOWANCE,
        )
        for service in self._services:
            service.add(server)
        self.health.add_to(server)
        if self.settings.serves_reflection:
            from grpc_reflection.v1alpha import reflection  # noqa: PLC0415  # off in production

            reflection.enable_server_reflection([*names, reflection.SERVICE_NAME], server)
        return server

    def _bind(self, server: grpc.aio.Server, address: str, *, plain: bool) -> int:
        try:
            if plain or self.settings.tls_cert_dir is None:
                return server.add_insecure_port(address)
            files = CertificateFiles(self.settings.tls_cert_dir)
            return server.add_secure_port(address, server_credentials(files))
        except RuntimeError:
            raise ServerStartError(f"cannot listen on {address}: it is in use or not an address of this host") from None


def _probe_server() -> grpc.aio.Server:
    # No line of the log for a call: callers without a certificate would write it.
    outer = (map_errors, Presence(limit=_PROBES_OF_HOST))
    chain = Chain(outer, (Deadline(limit=_PROBE_SECONDS),), served_services=[HEALTH], arrival=_PROBE_SECONDS)
    options = (*_OPTIONS, *_PROBES, (_MOST_CONNECTIONS, ConnectionLimits.of_process().probes))
    return grpc.aio.server(interceptors=[chain], options=options, maximum_concurrent_rpcs=_ALLOWANCE)
