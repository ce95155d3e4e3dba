"""Channels to other servers: one for each target and identity, reopened when our certificates change."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import grpc.aio

from slipway.contract.roles import provisioner_host, service_host
from slipway.rpc.addresses import is_loopback
from slipway.rpc.server import MAX_MESSAGE_BYTES
from slipway.rpc.settings import ServerSettings
from slipway.rpc.tls import CertificateFiles, Certificates, Fingerprint, TlsFilesError, channel_credentials

_RETIRED_GRACE_SECONDS = 30.0
_UNUSED_SECONDS = 600.0

_SERVICE_CONFIG = {
    "loadBalancingConfig": [{"round_robin": {}}],
    "methodConfig": [
        {
            "name": [{}],
            "retryPolicy": {
                "maxAttempts": 3,
                "initialBackoff": "0.2s",
                "maxBackoff": "2s",
                "backoffMultiplier": 2,
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ],
}


class InsecureTargetError(ValueError):
    """Without TLS only addresses of this machine may be called."""


@dataclass(frozen=True, slots=True)
class _Key:
    target: str
    host: str | None
    retries: bool


class ChannelPool:
    """Opens channels and keeps them; ``get`` is cheap enough for every call."""

    def __init__(self, *, tls: CertificateFiles | None, trust_domain: str) -> None:
        """Make a pool; ``tls`` None means plain connections to this machine."""
        self._tls = tls
        self._trust_domain = trust_domain
        self._fingerprint: Fingerprint | None = None
        self._certificates: Certificates | None = None
        self._channels: dict[_Key, grpc.aio.Channel] = {}
        self._used: dict[_Key, float] = {}
        self._retired: set[asyncio.Task[None]] = set()

    @classmethod
    def of(cls, settings: ServerSettings) -> "ChannelPool":
        """Make a pool that calls as the server of these settings."""
        directory = settings.tls_cert_dir
        tls = None if directory is None else CertificateFiles(directory)
        return cls(tls=tls, trust_domain=settings.trust_domain)

    @property
    def is_secure(self) -> bool:
        """Whether both sides prove themselves by TLS."""
        return self._tls is not None

    def get(
        self, target: str, *, provisioner: str | None = None, role: str | None = None, retries: bool = True
    ) -> grpc.aio.Channel:
        """Give the channel to a target ("host:port" or a gRPC target). Do not close it.

        With ``provisioner`` the other side's certificate must be that of the provisioner of that name, with ``role``
        that of a service of that role, whatever its address is. With neither it must be for the target's host.
        ``retries`` lets gRPC itself repeat a call three times on UNAVAILABLE.

        Raises:
            InsecureTargetError: the pool has no TLS and the target is not on this machine.
            TlsFilesError: the certificate directory cannot be used.
        """
        self._check(target)
        key = _Key(target, self._host(provisioner, role), retries)
        now = time.monotonic()
        if key not in self._channels:
            self._retire([old for old, used in self._used.items() if now - used > _UNUSED_SECONDS])
            self._channels[key] = self._open(key)
        self._used[key] = now
        return self._channels[key]

    @asynccontextmanager
    async def once(self, target: str, *, provisioner: str | None = None) -> AsyncIterator[grpc.aio.Channel]:
        """Give a channel of its own to a target, without repeats, and close it in the end. Raises as ``get``."""
        self._check(target)
        channel = self._open(_Key(target, self._host(provisioner, None), retries=False))
        try:
            yield channel
        finally:
            await channel.close()

    async def close(self) -> None:
        """Close all channels at once."""
        for task in self._retired:
            task.cancel()
        await asyncio.gather(*self._retired, return_exceptions=True)
        while self._channels:
            _, channel = self._channels.popitem()
            await channel.close()

    def _follow_certificates(self) -> None:
        if self._tls is None:
            return
        try:
            now = self._tls.fingerprint()
            if now == self._fingerprint:
                return
            self._certificates = self._tls.read()
        except TlsFilesError:
            # As on the server: a change that is broken, or half done, keeps the last good set.
            if self._certificates is None:
                raise
            return
        self._fingerprint = now
        self._retire(list(self._channels))

    def _check(self, target: str) -> None:
        if self._tls is None and not is_loopback(target):
            raise InsecureTargetError("without TLS only loopback addresses may be called")
        self._follow_certificates()

    def _host(self, provisioner: str | None, role: str | None) -> str | None:
        """Return the name that the other side's certificate must carry; None for that of the target."""
        if provisioner is not None:
            return provisioner_host(trust_domain=self._trust_domain, name=provisioner)
        return None if role is None else service_host(trust_domain=self._trust_domain, role=role)

    def _retire(self, keys: Iterable[_Key]) -> None:
        """Close channels when the calls on them have ended."""
        for key in keys:
            del self._used[key]
            task = asyncio.ensure_future(self._channels.pop(key).close(_RETIRED_GRACE_SECONDS))
            self._retired.add(task)
            task.add_done_callback(self._retired.discard)

    def _open(self, key: _Key) -> grpc.aio.Channel:
        options: list[tuple[str, str | int]] = [
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
            ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
            ("grpc.keepalive_time_ms", 60_000),
            ("grpc.keepalive_timeout_ms", 10_000),
            ("grpc.keepalive_permit_without_calls", 0),
            # A peer that comes back is found again within two seconds; gRPC's own default is two minutes.
            ("grpc.initial_reconnect_backoff_ms", 200),
            ("grpc.min_reconnect_backoff_ms", 1_000),
            ("grpc.max_reconnect_backoff_ms", 2_000),
            ("grpc.dns_min_time_between_resolutions_ms", 2_000),
            # Else channels of the whole process share connections, made with older certificates too.
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.enable_retries", int(key.retries)),
        ]
        if key.retries:
            options.append(("grpc.service_config", json.dumps(_SERVICE_CONFIG)))
        if self._certificates is None:
            return grpc.aio.insecure_channel(key.target, options=options)
        if key.host is not None:
            options.append(("grpc.ssl_target_name_override", key.host))
        return grpc.aio.secure_channel(key.target, channel_credentials(self._certificates), options=options)
