"""HTTP requests of one API server: TLS, proxy and pool of connections, as a configuration has them."""

import inspect
import json
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver

from slipway.kubernetes_api.answers import without_redirects
from slipway.kubernetes_api.configuration import ApiConfiguration
from slipway.kubernetes_api.resources import Json

_CONNECTIONS = 200
_READ_BYTES = 2 * 2**20
"""Half of the longest line of a watch: events of a watch are longer than aiohttp's own bound."""

_CIPHERS = "ECDH+AESGCM:ECDH+CHACHA20:ECDH+AES:!aNULL:!SHA1"
"""Those of Python's without DHE, which no server in Go has: a server chooses its groups, as large as it likes."""


class Session:
    """Calls one API server."""

    def __init__(self, configuration: ApiConfiguration, *, decompresses: bool) -> None:
        """Read the certificates; `decompresses`: compressed answers are expanded."""
        self.configuration = configuration
        self._decompresses = decompresses
        self._tls = ssl.create_default_context(cafile=configuration.ssl_ca_cert, cadata=configuration.ca_cert_data)
        self._tls.set_ciphers(_CIPHERS)
        if configuration.cert_file:
            # Without a password OpenSSL would ask a terminal for that of an encrypted key.
            self._tls.load_cert_chain(configuration.cert_file, keyfile=configuration.key_file, password="")
        if not configuration.verify_ssl:
            self._tls.check_hostname = False
            self._tls.verify_mode = ssl.CERT_NONE
        self._client: aiohttp.ClientSession | None = None

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str],
        body: Json | None,
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109  # the client's own
    ) -> aiohttp.ClientResponse:
        """Make a request with the credentials of the configuration; a body is written as JSON."""
        if self._client is None:
            self._client = self._opened()
        options: dict[str, Any] = {}
        if self.configuration.tls_server_name:
            options["server_hostname"] = self.configuration.tls_server_name
        if self.configuration.proxy:
            options["proxy"] = self.configuration.proxy
        return await self._client.request(
            method,
            url,
            headers={**headers, **await self._credentials()},
            data=None if body is None else json.dumps(body),
            timeout=timeout,
            **options,
        )

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    def connector(self, resolver: AbstractResolver | None = None) -> aiohttp.TCPConnector:
        """Give what opens connections; with a `resolver` the addresses of names are found anew for each of them."""
        if resolver is None:
            return aiohttp.TCPConnector(limit=_CONNECTIONS, ssl=self._tls)
        return aiohttp.TCPConnector(limit=_CONNECTIONS, ssl=self._tls, resolver=resolver, use_dns_cache=False)

    def _opened(self) -> aiohttp.ClientSession:
        # With trust_env the client would look into the environment and the .netrc file in a thread before each call,
        # and wait for a free one; passwords of a .netrc file are nothing for an API server.
        return aiohttp.ClientSession(
            connector=self.connector(),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
            auto_decompress=self._decompresses,
            read_bufsize=_READ_BYTES,
            trace_configs=[without_redirects()],
        )

    async def _credentials(self) -> dict[str, str]:
        configuration = self.configuration
        if configuration.refresh_api_key_hook is not None:
            refreshed = configuration.refresh_api_key_hook(configuration)
            if inspect.isawaitable(refreshed):
                await refreshed
        token = configuration.api_key.get("BearerToken")
        return {"authorization": token} if token else {}
