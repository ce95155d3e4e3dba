"""Registries of images: the host under which an API is served, by which a runtime looks for credentials."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from slipway.contract.errors import Violation
from slipway.contract.yaml_names import person_path
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


def violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give the entries of registries that say nothing, or that the runtime would never use."""
    yield from _credentials_of_one_host(os, path)
    yield from _credentials_of_no_host(os, path)
    for index, registry in enumerate(os.containerd.registries):
        where = f"{path}.containerd.registries[{index}]"
        if not (registry.endpoints or registry.server or registry.HasField("credentials")):
            yield Violation(where, "says nothing: set endpoints, server or credentials")
        urls = [endpoint.url for endpoint in registry.endpoints]
        for number, url in enumerate(urls):
            if url in urls[:number]:
                yield Violation(
                    f"{where}.endpoints[{number}].url", "is the URL of an earlier endpoint, too", remedy="leave it out"
                )
        if registry.only_endpoints and not registry.endpoints:
            yield Violation(f"{where}.only_endpoints", "needs at least one entry in endpoints")


def _credentials_of_one_host(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Find credentials that the runtime could not tell apart: it asks for those of Docker Hub by its real host."""
    first: dict[str, int] = {}
    for index, registry in enumerate(os.containerd.registries):
        if not registry.HasField("credentials"):
            continue
        earlier = first.setdefault(api_host(registry.host), index)
        if earlier != index:
            where = f"{path}.containerd.registries"
            yield Violation(
                f"{where}[{index}].credentials",
                f"is for the same host as spec.{person_path(f'{where}[{earlier}].credentials')}",
                remedy="keep one of them",
            )


def _credentials_of_no_host(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Find credentials that the runtime never uses: it looks for them by the host that it asks."""
    asked = asked_hosts(os.containerd)
    for index, registry in enumerate(os.containerd.registries):
        is_named = registry.HasField("credentials") and registry.host not in {"", DEFAULT}
        if is_named and api_host(registry.host) not in asked:
            where = f"{path}.containerd.registries[{index}]"
            remedy = "give them to an entry of registries whose host is that of an endpoint or a server"
            if registry.server:
                yield Violation(f"{where}.server", f"is asked in place of the host with the credentials: {remedy}")
            else:
                yield Violation(f"{where}.credentials", f"is never used, since this host is never asked: {remedy}")


def _url_host(url: str) -> str:
    try:
        authority = urlsplit(url).netloc
    except ValueError:
        return ""
    return api_host(authority.rpartition("@")[2])
