"""Under which host a registry's API is served: by it a container runtime looks for credentials."""

from urllib.parse import urlsplit

from slipway.v1alpha1 import os_pb2 as ospb

API_HOSTS = {"docker.io": "registry-1.docker.io"}
"""Registries whose API has another name."""

DEFAULT = "_default"
"""Stands for every registry that is not named."""


def api_host(host: str) -> str:
    """Give the host that is asked for the images of a registry; hosts that differ in case only are the same."""
    return API_HOSTS.get(host.lower(), host.lower())


def asked_hosts(containerd: ospb.Containerd) -> set[str]:
    """Give the hosts that a runtime asks for the images of the registries that have an entry.

    Those are the endpoints, then the server, which is the registry itself where it is unset.
    """
    hosts = set()
    for registry in containerd.registries:
        hosts |= {_url_host(endpoint.url) for endpoint in registry.endpoints}
        if registry.server:
            hosts.add(_url_host(registry.server))
        elif not registry.only_endpoints:
            hosts.add(api_host(registry.host))
    return hosts


def _url_host(url: str) -> str:
    try:
        authority = urlsplit(url).netloc
    except ValueError:
        return ""
    return api_host(authority.rpartition("@")[2])
