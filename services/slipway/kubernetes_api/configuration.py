"""Where an API server is, by which credentials it is called, and by which proxy.

The Kubernetes client has such a class of its own, but an import of one part of that package imports all of it: 25 MiB
and a second of CPU. So it is imported only for a kubeconfig file that a person has written, which may have plug-ins.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

_HOST, _PORT = "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TOKEN_SECONDS = 60.0
"""How long a token file is not read again: the kubelet renews it at 80 % of its time, which is an hour by default."""


class ConfigurationMissing(OSError):  # noqa: N818  # subject and state, as the contract names its errors
    """This process runs in no cluster, or has no service account there."""


@dataclass(slots=True)
class ApiConfiguration:
    """One API server. The names are those that the Kubernetes client's loader of kubeconfig files sets.

    Attributes:
        host: its URL.
        api_key: "BearerToken": the whole value of the header authorization.
        refresh_api_key_hook: is called before each call, and may change `api_key`; a coroutine is awaited.
        ssl_ca_cert: file of its authorities; None for the system's.
        ca_cert_data: the same as PEM.
        cert_file, key_file: files of a client certificate; they are read once.
        verify_ssl: its certificate is checked.
        tls_server_name: the name in that certificate, where it is not the host's.
        proxy: URL of a proxy.
    """

    host: str = "http://localhost"
    api_key: dict[str, str] = field(default_factory=dict, repr=False)
    refresh_api_key_hook: Callable[["ApiConfiguration"], Any] | None = None
    ssl_ca_cert: str | None = None
    ca_cert_data: str | bytes | None = field(default=None, repr=False)
    cert_file: str | None = None
    key_file: str | None = None
    verify_ssl: bool = True
    tls_server_name: str | None = None
    proxy: str | None = None

    @classmethod
    def of_pod(
        cls, *, environment: Mapping[str, str] = os.environ, service_account: Path = _SERVICE_ACCOUNT
    ) -> "ApiConfiguration":
        """Give the API server of the cluster that this process runs in.

        Raises:
            ConfigurationMissing: this process runs in no cluster, or has no service account there.
        """
        host, port = environment.get(_HOST), environment.get(_PORT)
        if not host or not port:
            raise ConfigurationMissing(f"{_HOST} and {_PORT} are not set: this process runs in no cluster")
        authorities = service_account / "ca.crt"
        if not authorities.is_file() or not authorities.stat().st_size:
            raise ConfigurationMissing("the service account has no ca.crt, or an empty one")
        token = _ServiceAccountToken(service_account / "token")
        configuration = cls(
            host=f"https://{f'[{host}]' if ':' in host else host}:{port}",
            ssl_ca_cert=str(authorities),
            refresh_api_key_hook=token.refresh,
        )
        token.refresh(configuration)
        return configuration


class _ServiceAccountToken:
    """A token in a file that the kubelet renews."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._until = 0.0

    def refresh(self, configuration: ApiConfiguration) -> None:
        """Read the file where it has not been read lately.

        Raises:
            ConfigurationMissing: it is not there, or empty.
        """
        if time.monotonic() < self._until:
            return
        try:
            token = self._file.read_text().strip()
        except OSError:
            token = ""
        if not token:
            raise ConfigurationMissing("the service account has no token, or an empty one")
        configuration.api_key["BearerToken"] = f"Bearer {token}"
        self._until = time.monotonic() + _TOKEN_SECONDS


def environment_proxy(address: str) -> str | None:
    """Give the proxy that HTTPS_PROXY and the like name for an address, unless NO_PROXY names its host or network.

    As Go's clients read them: a proxy without a scheme is one for HTTP, and NO_PROXY may hold networks.
    """
    parts, proxies = urlsplit(address), getproxies_environment()
    host, proxy = parts.hostname or "", proxies.get(parts.scheme)
    if proxy is None or proxy_bypass(host) or _is_within(host, proxies.get("no", "")):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_within(host: str, never: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    for word in never.split(","):
        with contextlib.suppress(ValueError):
            if address in ip_network(word.strip(), strict=False):
                return True
    return False
