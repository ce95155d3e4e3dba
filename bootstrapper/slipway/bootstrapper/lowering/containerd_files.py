"""Which files containerd reads for what the spec says, the same on every family of operating systems."""

from collections.abc import Iterator

from slipway.bootstrapper.assembly.registries import API_HOSTS, DEFAULT
from slipway.bootstrapper.lowering.containerd_config import (
    Auth,
    ConfigFile,
    Registry,
    RegistryConfig,
    Runtimes,
    config_file,
)
from slipway.bootstrapper.lowering.draft import CannotLower
from slipway.bootstrapper.lowering.registry_hosts import hosts_toml, needs_file
from slipway.bootstrapper.os_profiles.profile import ContainerRuntime
from slipway.contract.content import literal
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import secret_pb2 as secretpb


def configuration(item: Item, runtime: ContainerRuntime, runtimes: Runtimes | None) -> ConfigFile:
    """Give the configuration file.

    Raises:
        CannotLower: credentials are given for no registry in particular.
    """
    containerd: ospb.Containerd = item.message
    configs: dict[str, RegistryConfig] = {}
    for registry in containerd.registries:
        if registry.HasField("credentials"):
            if registry.host == DEFAULT:
                raise CannotLower(
                    item,
                    "containerd has no credentials for all registries",
                    remedy="give each registry its own credentials",
                )
            config = RegistryConfig(auth=_auth(registry.credentials))
            configs |= {host: config for host in (registry.host, API_HOSTS.get(registry.host)) if host}
    return config_file(
        runtime.configuration_version,
        registry=Registry(config_path=runtime.registries, configs=configs or None),
        runtimes=runtimes,
        sandbox_image=containerd.sandbox_image or None,
    )


def registry_files(
    item: Item, runtime: ContainerRuntime, *, separator: str, colon: str = ":"
) -> Iterator[tuple[str, contentpb.Content]]:
    """Give the files below the folder of registries, with their paths.

    Args:
        item: containerd's item.
        runtime: of the machine's profile.
        separator: between the parts of a path.
        colon: what a folder's name has in the place of the colon before a port; with "_" another one ends the name.

    Raises:
        CannotLower: a registry is never to be asked and there is no other source.
    """
    containerd: ospb.Containerd = item.message
    for registry in containerd.registries:
        if not needs_file(registry):
            continue
        if registry.only_endpoints and not registry.endpoints and not registry.server:
            raise CannotLower(
                item,
                "a registry is never to be asked itself, and has no endpoint",
                remedy="add an endpoint, or drop onlyEndpoints",
            )
        folder = f"{runtime.registries}{separator}{_folder(registry.host, colon)}"
        authorities: list[str | None] = []
        for number, endpoint in enumerate(registry.endpoints, 1):
            name = f"ca-{number}.pem"
            authorities.append(name if endpoint.HasField("ca") else None)
            if endpoint.HasField("ca"):
                yield f"{folder}{separator}{name}", endpoint.ca
        yield f"{folder}{separator}hosts.toml", literal(hosts_toml(registry, authorities))


def _folder(host: str, colon: str) -> str:
    name, separator, port = host.partition(":")
    return host if colon == ":" or not separator else f"{name}_{port}_"


def _auth(credentials: ospb.RegistryCredentials) -> Auth:
    password: str | secretpb.SecretReference = credentials.password.value
    if credentials.password.WhichOneof("source") == "secret_ref":
        password = credentials.password.secret_ref
    return Auth(username=credentials.username, password=password)
