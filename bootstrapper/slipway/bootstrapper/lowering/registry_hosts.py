"""hosts.toml: where containerd looks for the images of one registry. No restart is needed for a change of it.

Source: containerd's docs/hosts.md. What stands at the top of the file is the server that is asked last.
"""

from collections.abc import Sequence
from typing import Any

import tomli_w

from slipway.v1alpha1 import os_pb2 as ospb


def hosts_toml(registry: ospb.Registry, authorities: Sequence[str | None]) -> bytes:
    """Give the file of a registry.

    Without the registry itself the last endpoint takes its place: left out, it would be asked after all others.
    The table of hosts is there even when it is empty: containerd 1.6 and 1.7 reject a file without it, and would ask
    the registry itself.

    Args:
        registry: the registry; with `only_endpoints` it has an endpoint or a server.
        authorities: for each endpoint the name of the file beside this one with its certificate authorities, or None.
    """
    endpoints = [
        (endpoint.url, _settings(endpoint, authority))
        for endpoint, authority in zip(registry.endpoints, authorities, strict=True)
    ]
    tree: dict[str, Any] = {}
    if registry.server:
        tree["server"] = registry.server
    elif registry.only_endpoints:
        url, settings = endpoints.pop()
        tree |= {"server": url, **settings}
    tree["host"] = {url: {"capabilities": ["pull", "resolve"], **settings} for url, settings in endpoints}
    return tomli_w.dumps(tree).encode()


def needs_file(registry: ospb.Registry) -> bool:
    """Return whether the registry is looked for elsewhere than at itself."""
    return bool(registry.endpoints or registry.server or registry.only_endpoints)


def _settings(endpoint: ospb.RegistryEndpoint, authority: str | None) -> dict[str, Any]:
    settings: dict[str, Any] = {"ca": authority} if authority else {}
    if endpoint.HasField("skip_verify"):
        settings["skip_verify"] = endpoint.skip_verify
    if endpoint.HasField("override_path"):
        settings["override_path"] = endpoint.override_path
    return settings
