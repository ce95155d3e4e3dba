"""containerd's configuration file, as a typed tree and as TOML.

containerd reads unknown keys and versions in silence, so the tree is typed here. Version 2 is what 1.4 to 2.x read; the
names of the plugins changed with version 3, which only 2.x reads. Source: containerd's docs/cri/config.md.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w
from pydantic import BaseModel, ConfigDict, Field

from slipway.contract.content import literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import secret_pb2 as secretpb

CRI_V2 = "io.containerd.grpc.v1.cri"
IMAGES_V3 = "io.containerd.cri.v1.images"
RUNTIME_V3 = "io.containerd.cri.v1.runtime"


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Auth(_Table):
    """How to log in to a registry. A password that is a reference is spliced in by the provisioner."""

    username: str
    password: str | secretpb.SecretReference


class RegistryConfig(_Table):
    """What the configuration file itself says of a registry; mirrors stand in hosts.toml."""

    auth: Auth


class Registry(_Table):
    """All registries. `config_path` is the folder of the hosts.toml files; `mirrors` beside it would disable CRI."""

    config_path: str
    configs: dict[str, RegistryConfig] | None = None


class RuntimeOptions(_Table):
    """Options of runc."""

    systemd_cgroup: bool = Field(serialization_alias="SystemdCgroup")


class Runtime(_Table):
    """A runtime."""

    runtime_type: str = "io.containerd.runc.v2"
    options: RuntimeOptions


class Runtimes(_Table):
    """The runtimes that CRI offers."""

    runtimes: dict[str, Runtime]


class CriPlugin(_Table):
    """The CRI plugin of version 2."""

    sandbox_image: str | None = None
    containerd: Runtimes | None = None
    registry: Registry


class PinnedImages(_Table):
    """Images that are never removed."""

    sandbox: str


class ImagesPlugin(_Table):
    """The plugin for images of version 3."""

    pinned_images: PinnedImages | None = None
    registry: Registry


class RuntimePlugin(_Table):
    """The plugin for containers of version 3."""

    containerd: Runtimes | None = None


class ConfigFile(_Table):
    """The whole file."""

    version: int
    plugins: dict[str, CriPlugin | ImagesPlugin | RuntimePlugin]


def config_file(
    version: int, *, registry: Registry, runtimes: Runtimes | None, sandbox_image: str | None
) -> ConfigFile:
    """Give the file in one of its versions.

    Raises:
        ValueError: there is no such version.
    """
    if version == 2:  # noqa: PLR2004  # the version's number is its name
        plugin = CriPlugin(sandbox_image=sandbox_image, containerd=runtimes, registry=registry)
        return ConfigFile(version=version, plugins={CRI_V2: plugin})
    if version != 3:  # noqa: PLR2004  # the version's number is its name
        raise ValueError("containerd's configuration file has the versions 2 and 3")
    pinned = PinnedImages(sandbox=sandbox_image) if sandbox_image else None
    images = ImagesPlugin(pinned_images=pinned, registry=registry)
    plugins: dict[str, CriPlugin | ImagesPlugin | RuntimePlugin] = {IMAGES_V3: images}
    if runtimes is not None:
        plugins[RUNTIME_V3] = RuntimePlugin(containerd=runtimes)
    return ConfigFile(version=version, plugins=plugins)


def sandbox_place(version: int) -> tuple[str, str]:
    """Give the table, as its heading, and the key of the sandbox image in a file without one."""
    if version == 2:  # noqa: PLR2004  # the version's number is its name
        return f'plugins."{CRI_V2}"', "sandbox_image"
    return f'plugins."{IMAGES_V3}".pinned_images', "sandbox"


def toml_content(file: ConfigFile) -> contentpb.Content:
    """Give the file as content; passwords are segments of their own, spliced in as the strings that they stand for.

    A JSON string is a basic string of TOML as long as it holds no character beyond the first 65,536.
    """
    references: list[secretpb.SecretReference] = []
    word = _marker(tomli_w.dumps(_tree(file, references, "")))
    references.clear()
    text = tomli_w.dumps(_tree(file, references, word))
    content = contentpb.Content()
    for number, piece in enumerate(re.split(f'"{word}[0-9]+"', text)):
        if number:
            content.segments.add(secret_ref=references[number - 1], encoding=contentpb.SPLICE_ENCODING_JSON_STRING)
        content.segments.extend(literal(piece.encode()).segments)
    return content


def holds_secrets(content: contentpb.Content) -> bool:
    """Return whether a content refers to a secret."""
    return any(segment.WhichOneof("value") == "secret_ref" for segment in content.segments)


def _marker(text: str) -> str:
    """Give a word that does not occur in the text."""
    word = "slipway-secret-"
    while word in text:
        word += "x-"
    return word


def _tree(file: ConfigFile, references: list[secretpb.SecretReference], word: str) -> dict[str, Any]:
    return dict(_plain(file.model_dump(by_alias=True, exclude_none=True), references, word))


def _plain(tree: Mapping[str, Any], references: list[secretpb.SecretReference], word: str) -> Iterator[tuple[str, Any]]:
    """Give the tree with a numbered word in the place of each reference."""
    for key, value in tree.items():
        if isinstance(value, secretpb.SecretReference):
            yield key, f"{word}{len(references)}"
            references.append(value)
        elif isinstance(value, Mapping):
            yield key, dict(_plain(value, references, word))
        else:
            yield key, value
