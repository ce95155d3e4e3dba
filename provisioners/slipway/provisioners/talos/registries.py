"""Registries: sections of the main document up to Talos 1.11, three kinds of documents from 1.12 on."""

import base64
from urllib.parse import urlsplit

from slipway.provisioners.talos.documents import (
    Auth,
    Mirror,
    MirrorEndpoint,
    Named,
    Registries,
    RegistryAuthConfig,
    RegistryConfig,
    RegistryMirrorConfig,
    RegistryTLS,
    RegistryTLSConfig,
)
from slipway.provisioners.talos.material import certificates
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_FEATURE = "os.containerd.registries"
_DOCKER_HUB = "docker.io"
_DOCKER_HUB_API = "registry-1.docker.io"


def tls_by_host(registries: list[ospb.Registry], ctx: RenderContext) -> dict[str, tuple[str | None, bool | None]]:
    """Give CA (PEM) and "not verified" by host and port of the endpoints: Talos knows them by host only."""
    mirrors: dict[str, tuple[str | None, bool | None]] = {}
    for index, registry in enumerate(registries):
        for number, endpoint in enumerate(registry.endpoints):
            path = f"os.containerd.registries[{index}].endpoints[{number}]"
            ca = None
            if endpoint.HasField("ca"):
                ca = certificates(ctx.content(endpoint.ca, f"{path}.ca"), f"{path}.ca")
            tls = (ca, endpoint.skip_verify if endpoint.HasField("skip_verify") else None)
            host = _host(endpoint.url)
            if host is None:
                ctx.refuse(f"{path}.url", _FEATURE, "has a malformed host")
            elif mirrors.setdefault(host, tls) != tls:
                ctx.refuse(
                    path,
                    _FEATURE,
                    "has another ca or skip_verify than an endpoint of the same host before it",
                    remedy="give all endpoints of one host the same ca and skipVerify",
                )
    return {host: tls for host, tls in mirrors.items() if tls != (None, None)}


def _host(url: str) -> str | None:
    """Give host and port of a URL; None where brackets of an address are not closed."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return None


def auth_by_host(registries: list[ospb.Registry], ctx: RenderContext) -> dict[str, Auth]:
    """Give credentials by the host that is asked, which is not docker.io for images of docker.io."""
    return {
        _DOCKER_HUB_API if registry.host == _DOCKER_HUB else registry.host: Auth(
            username=registry.credentials.username,
            password=ctx.secret(
                registry.credentials.password, f"os.containerd.registries[{index}].credentials.password"
            ),
        )
        for index, registry in enumerate(registries)
        if registry.HasField("credentials")
    }


def sections(registries: list[ospb.Registry], ctx: RenderContext) -> Registries | None:
    """Give the registries as sections of the main document."""
    mirrors = {}
    for index, registry in _mirrored(registries, ctx):
        override = [endpoint.override_path for endpoint in registry.endpoints]
        if len(set(override)) > 1:
            ctx.refuse(
                f"os.containerd.registries[{index}].endpoints[{override.index(not override[0])}]",
                _FEATURE,
                "has another override_path than the first one, and Talos before 1.12 has one for all of a registry",
                remedy="set overridePath alike for all of them, or choose format talos/v1.12 or newer",
            )
        mirrors[_name(registry)] = Mirror(
            endpoints=[endpoint.url for endpoint in registry.endpoints],
            override_path=True if True in override else None,
            skip_fallback=_skip(registry),
        )
    config: dict[str, RegistryConfig] = {}
    for host, (ca, skip) in tls_by_host(registries, ctx).items():
        encoded = base64.b64encode(ca.encode()).decode() if ca is not None else None
        config[host] = RegistryConfig(tls=RegistryTLS(ca=encoded, insecure_skip_verify=skip))
    for host, auth in auth_by_host(registries, ctx).items():
        config.setdefault(host, RegistryConfig()).auth = auth
    return Registries(mirrors=mirrors or None, config=config or None) if mirrors or config else None


def documents(registries: list[ospb.Registry], ctx: RenderContext) -> list[Named]:
    """Give the registries as documents of their own."""
    mirrors = [
        RegistryMirrorConfig(
            name=_name(registry),
            endpoints=[
                MirrorEndpoint(url=endpoint.url, override_path=True if endpoint.override_path else None)
                for endpoint in registry.endpoints
            ],
            skip_fallback=_skip(registry),
        )
        for _, registry in _mirrored(registries, ctx)
    ]
    tls = [
        RegistryTLSConfig(name=host, ca=ca, insecure_skip_verify=skip)
        for host, (ca, skip) in tls_by_host(registries, ctx).items()
    ]
    auth = [
        RegistryAuthConfig(name=host, username=auth.username, password=auth.password)
        for host, auth in auth_by_host(registries, ctx).items()
    ]
    return [*mirrors, *tls, *auth]


def _mirrored(registries: list[ospb.Registry], ctx: RenderContext) -> list[tuple[int, ospb.Registry]]:
    for index, registry in enumerate(registries):
        if registry.only_endpoints and not registry.endpoints:
            path = f"os.containerd.registries[{index}].only_endpoints"
            why, remedy = "needs at least one endpoint on Talos", "add an endpoint, or leave onlyEndpoints out"
            ctx.refuse(path, f"{_FEATURE}.only_endpoints", why, remedy=remedy)
    return [(index, registry) for index, registry in enumerate(registries) if registry.endpoints]


def _name(registry: ospb.Registry) -> str:
    return "*" if registry.host == "_default" else registry.host


def _skip(registry: ospb.Registry) -> bool | None:
    return True if registry.only_endpoints else None
