"""The proxy that the environment of this process names for an API server."""

import contextlib
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass


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
