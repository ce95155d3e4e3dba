"""One API server: its address and credentials, the pace of calls, and calls that give plain trees or failures."""

import asyncio
import json
import os
import tempfile
from collections.abc import AsyncIterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.http_exceptions import HttpProcessingError
from yaml import YAMLError

from slipway.contract.bounded_json import read_json
from slipway.kubernetes_api.answers import Read, drop, event, failure_of, tree
from slipway.kubernetes_api.configuration import ApiConfiguration, environment_proxy
from slipway.kubernetes_api.destinations import CheckedResolver, Destinations
from slipway.kubernetes_api.failures import Unreachable
from slipway.kubernetes_api.kubeconfig import ClusterAccess
from slipway.kubernetes_api.rate_limiter import RateLimiter
from slipway.kubernetes_api.resources import Json
from slipway.kubernetes_api.session import Session

JSON = "application/json"
_CONNECT_SECONDS = 10.0
_MANAGEMENT_BYTES = 256 * 2**20
"""Longest answer of the cluster that we serve: a page of 500 objects of half a MiB. It is trusted; an accident ends."""

_WORKLOAD_BYTES = 2 * 2**20
"""Longest answer of a workload cluster, whose owners may be anybody: it is asked for Secrets of at most 1 MiB. It is
counted as it arrives, and never expanded: a compressed answer of this size could have a thousand times as many bytes.
"""

_WORKLOAD_VALUES = 20_000
"""Most values in it: 2 MiB of small ones would be 80 MiB of objects, for each cluster that is asked meanwhile."""


class KubeconfigUnusable(Exception):  # noqa: N818  # subject and state, as the contract names its errors
    """A kubeconfig file cannot be used."""


class _Checked(Session):
    """A session that looks at each address before it is called.

    A proxy would resolve a name by itself, without a check. So it is given an address; only of a
    name that the operator allows it is given the name.
    """

    def __init__(self, configuration: ApiConfiguration, destinations: Destinations) -> None:
        host = urlsplit(configuration.host).hostname or ""
        self._by_address = bool(configuration.proxy) and not destinations.names(host)
        if self._by_address:
            configuration.tls_server_name = configuration.tls_server_name or host
        self._resolver = CheckedResolver(destinations)
        super().__init__(configuration, decompresses=False)

    async def request(
        self, method: str, url: str, *, headers: Mapping[str, str], **rest: Any
    ) -> aiohttp.ClientResponse:
        if self._by_address:
            parts = urlsplit(url)
            address = await self._resolver.address(parts.hostname or "")
            authority = f"[{address}]" if ":" in address else address
            authority += f":{parts.port}" if parts.port else ""
            url, headers = parts._replace(netloc=authority).geturl(), {**headers, "Host": parts.netloc}
        return await super().request(method, url, headers=headers, **rest)

    def connector(self, resolver: AbstractResolver | None = None) -> aiohttp.TCPConnector:
        # The proxy is the operator's.
        return super().connector(None if self.configuration.proxy else resolver or self._resolver)


class Connection:
    """Calls one API server."""

    def __init__(
        self,
        configuration: ApiConfiguration,
        *,
        rate_limiter: RateLimiter | None = None,
        seconds: float = 30.0,
        most_bytes: int = _MANAGEMENT_BYTES,
        destinations: Destinations | None = None,
    ) -> None:
        """Use a configuration; each call has so many `seconds`, and its answer at most so many bytes.

        Redirects are not followed: they would take credentials and bodies to an address that is not checked.
        The longest line of a watch is the client's own limit, 4 MiB. A server that a user's kubeconfig names is
        called at certain `destinations` only; it is asked for answers that are not compressed, and a compressed one is
        not expanded.
        """
        is_trusted = destinations is None
        configuration.proxy = configuration.proxy or environment_proxy(configuration.host)
        self._host = configuration.host
        self._session = (
            Session(configuration, decompresses=True) if destinations is None else _Checked(configuration, destinations)
        )
        self._rate_limiter = rate_limiter or RateLimiter.unlimited()
        self._seconds = seconds
        self._most_bytes = most_bytes
        self._read_json: Read = json.loads if is_trusted else partial(read_json, most_values=_WORKLOAD_VALUES)
        self._headers = {"User-Agent": "slipway-controller", **({} if is_trusted else {"Accept-Encoding": "identity"})}
        self.calls: dict[tuple[str, str, int], int] = {}
        """Number of calls by verb, kind and HTTP status (0 without an answer)."""

    @classmethod
    async def of_process(
        cls, kubeconfig: Path | None, *, rate_limiter: RateLimiter | None = None, seconds: float = 30.0
    ) -> Self:
        """Connect to the cluster in which this process runs, or to the one that a kubeconfig file names.

        Raises:
            OSError: there is neither.
            KubeconfigUnusable: nothing can be made of the file.
        """
        configuration = ApiConfiguration.of_pod() if kubeconfig is None else await _of_file(kubeconfig)
        return cls(configuration, rate_limiter=rate_limiter, seconds=seconds)

    @classmethod
    async def by_kubeconfig(cls, kubeconfig: Path) -> Self:
        """Connect to the cluster that a person's kubeconfig file names.

        Raises:
            KubeconfigUnusable: nothing can be made of it.
        """
        try:
            return await cls.of_process(kubeconfig)
        except (OSError, ValueError):
            raise KubeconfigUnusable("no usable kubeconfig") from None

    @classmethod
    def to(
        cls,
        access: ClusterAccess,
        destinations: Destinations,
        *,
        rate_limiter: RateLimiter | None = None,
        seconds: float = 10.0,
    ) -> Self:
        """Connect to a cluster by what a checked kubeconfig holds.

        Raises:
            KubeconfigRefused: its server is not one of the destinations.
        """
        destinations.check(urlsplit(access.server).hostname or "")
        configuration = ApiConfiguration(host=access.server)
        configuration.ca_cert_data = access.authority or None
        configuration.tls_server_name = access.tls_server_name or None
        if access.token:
            configuration.api_key["BearerToken"] = f"Bearer {access.token}"
        with tempfile.TemporaryDirectory(prefix="slipway-") as folder:
            # Python's TLS takes a client certificate from files only; they are gone once it has been read.
            if access.certificate:
                configuration.cert_file = _write(folder, "tls.crt", access.certificate)
                configuration.key_file = _write(folder, "tls.key", access.key)
            return cls(
                configuration,
                rate_limiter=rate_limiter,
                seconds=seconds,
                most_bytes=_WORKLOAD_BYTES,
                destinations=destinations,
            )

    async def call(  # noqa: PLR0913  # keyword-only parts of a request
        self,
        verb: str,
        path: str,
        *,
        kind: str,
        name: str = "",
        query: Mapping[str, str] | None = None,
        body: Json | None = None,
        content_type: str = JSON,
        accept: str = JSON,
    ) -> Json:
        """Call and give the answer.

        Raises:
            ApiFailure: any of its kinds.
        """
        status = 0
        try:
            await self._rate_limiter.acquire()
            async with asyncio.timeout(self._seconds):
                response = await self._request(
                    verb, path, query, body, content_type, accept, aiohttp.ClientTimeout(self._seconds)
                )
                status = response.status
                data = await self._read(response)
        except (TimeoutError, OSError, aiohttp.ClientError, HttpProcessingError, ValueError):
            raise Unreachable(verb, kind, name) from None
        finally:
            self._count(verb, kind, status)
        if status >= 400:  # noqa: PLR2004  # a code of HTTP
            raise failure_of(status, data, self._read_json, verb=verb, kind=kind, name=name)
        try:
            return tree(status, data, self._read_json)
        except (ValueError, RecursionError):
            raise Unreachable(verb, kind, name, "no JSON object") from None

    async def lines(
        self, path: str, *, kind: str, query: Mapping[str, str], accept: str = JSON, idle_seconds: float
    ) -> AsyncIterator[Json]:
        """Give the events of a watch as they come; ends when the server ends it.

        Raises:
            ApiFailure: any of its kinds; Unreachable too when nothing came for `idle_seconds`.
        """
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=idle_seconds)
        status = 0
        try:
            await self._rate_limiter.acquire()
            response = await self._request("GET", path, query, None, JSON, accept, timeout)
            status = response.status
            if status >= 400:  # noqa: PLR2004  # a code of HTTP
                raise failure_of(status, await self._read(response), self._read_json, verb="watch", kind=kind, name="")
            try:
                async for line in response.content:
                    if line.strip():
                        yield event(tree(status, line, self._read_json))
            finally:
                drop(response)
        except (TimeoutError, OSError, aiohttp.ClientError, HttpProcessingError, ValueError, RecursionError):
            raise Unreachable("watch", kind) from None
        finally:
            self._count("WATCH", kind, status)

    async def close(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def _request(  # noqa: PLR0913, PLR0917  # the parts of a request
        self,
        verb: str,
        path: str,
        query: Mapping[str, str] | None,
        body: Json | None,
        content_type: str,
        accept: str,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # the client's own
    ) -> aiohttp.ClientResponse:
        headers = {"Accept": accept, "Content-Type": content_type, **self._headers}
        url = self._host + path + (f"?{urlencode(query)}" if query else "")
        return await self._session.request(verb.upper(), url, headers=headers, body=body, timeout=timeout)

    async def _read(self, response: aiohttp.ClientResponse) -> bytes:
        """Read an answer; ValueError when it is longer than it may be."""
        data = bytearray()
        try:
            async for part in response.content.iter_any():
                data += part
                if len(data) > self._most_bytes:
                    raise ValueError("the answer is too long")
        finally:
            # Read to its end, the connection is free already; else, as when the caller has gone, it would stay with
            # half an answer on it.
            response.close()
        return bytes(data)

    def _count(self, verb: str, kind: str, status: int) -> None:
        key = (verb, kind, status)
        self.calls[key] = self.calls.get(key, 0) + 1


async def _of_file(kubeconfig: Path) -> ApiConfiguration:
    """Read a person's kubeconfig, which may name programs and plug-ins that give the credentials.

    Raises:
        OSError: it cannot be read.
        KubeconfigUnusable: nothing can be made of it.
    """
    from kubernetes.aio.config import ConfigException, load_kube_config  # noqa: PLC0415  # 25 MiB, which no process in a cluster needs

    configuration = ApiConfiguration()
    try:
        await load_kube_config(config_file=str(kubeconfig), client_configuration=configuration)
    # The library reads a file that is YAML and no kubeconfig without a check.
    except (ConfigException, ValueError, TypeError, KeyError, YAMLError):
        raise KubeconfigUnusable("no usable kubeconfig") from None
    return configuration


def _write(folder: str, name: str, data: bytes) -> str:
    path = Path(folder) / name
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
    return str(path)
