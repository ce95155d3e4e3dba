"""Whether a machine fetches its payload by a proxy: the stub comes before all that sets one up on the machine."""

from collections.abc import Iterable
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from slipway.v1alpha1 import os_pb2 as ospb

_HTTPS = 443


class ProxyWithPassword(ValueError):  # noqa: N818  # what is not supported; it is a ValueError
    """The proxy asks for a password, and a stub holds none."""


def proxy_for(url: str, proxy: ospb.Proxy) -> str:
    """Give the proxy for an address of https, or "" where it is reached directly.

    Raises:
        ProxyWithPassword: it would have to be in the stub.
    """
    if not proxy.https_proxy or is_direct(url, proxy.no_proxy):
        return ""
    if "@" in urlsplit(proxy.https_proxy).netloc:
        raise ProxyWithPassword
    return proxy.https_proxy


def is_direct(url: str, no_proxy: Iterable[str]) -> bool:
    """Whether an address is one of those that are reached directly.

    An entry is a host with all of its subdomains, an address, a network or "*"; one with a port is for that port.
    Source: golang.org/x/net/http/httpproxy, Config.NoProxy, by which kubelet, container runtime and Ignition read such
    lists.
    """
    parts = urlsplit(url)
    host, port = (parts.hostname or "").lower(), parts.port or _HTTPS
    return any(_holds(entry.strip().lower(), host, port) for entry in no_proxy)


def _holds(entry: str, host: str, port: int) -> bool:
    if entry == "*":
        return True
    try:
        network = ip_network(entry, strict=False)
    except ValueError:
        name, _, suffix = entry.rpartition(":")
        if name and suffix.isdecimal():
            return int(suffix) == port and _holds(name.strip("[]"), host, port)
        name = entry.removeprefix("*").removeprefix(".")
        return bool(name) and (host.endswith(f".{name}") or (host == name and not entry.startswith((".", "*"))))
    try:
        return ip_address(host) in network
    except ValueError:
        return False
