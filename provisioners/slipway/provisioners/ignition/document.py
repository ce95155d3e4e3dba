"""The Ignition config of spec 3.3 and 3.4, as a typed tree.

Only what this provisioner emits is here. Bytes are data URLs, packed where that is shorter.
Source: configuration-v3_3.md and configuration-v3_4.md of coreos/ignition.
"""

import base64
import json
import zlib
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

# Characters that stand for themselves in a data URL, besides letters, digits and "_.-~".
_SAFE = "/:@!$&'()*+,;="
_GZIP = 16 + zlib.MAX_WBITS


class Part(BaseModel):
    """A part of the document. What is None is left out."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", hide_input_in_errors=True, frozen=True
    )


class Verification(Part):
    """Hash over the uncompressed bytes, "sha256-..." or "sha512-..."."""

    hash: str


class Resource(Part):
    """Bytes: a URL, what they are packed with, and their hash."""

    source: str
    compression: str | None = None
    verification: Verification | None = None


class Account(Part):
    """A user or group that owns something."""

    id: int | None = None
    name: str | None = None


class Node(Part):
    """What files, directories and links have in common."""

    path: str
    user: Account | None = None
    group: Account | None = None
    overwrite: bool | None = None


class File(Node):
    """A file: `contents` replaces, `append` adds."""

    mode: int | None = None
    contents: Resource | None = None
    append: list[Resource] | None = None


class Directory(Node):
    """A directory."""

    mode: int


class Link(Node):
    """A link."""

    target: str
    hard: bool | None = None


class Partition(Part):
    """A partition; without a size it takes the rest."""

    number: int
    label: str | None = None
    size_mib: int | None = None
    type_guid: str | None = None

    model_config = ConfigDict(alias_generator=lambda name: "sizeMiB" if name == "size_mib" else to_camel(name))


class Disk(Part):
    """A partition table."""

    device: str
    wipe_table: bool | None = None
    partitions: list[Partition]


class Filesystem(Part):
    """A filesystem. With `path`, Ignition writes what lies below the path to it."""

    device: str
    format: str
    path: str | None = None
    label: str | None = None
    wipe_filesystem: bool | None = None
    options: list[str] | None = None


class Storage(Part):
    """Everything on disks."""

    disks: list[Disk] | None = None
    filesystems: list[Filesystem] | None = None
    directories: list[Directory] | None = None
    files: list[File] | None = None
    links: list[Link] | None = None


class Group(Part):
    """A group of users."""

    name: str
    gid: int | None = None
    system: bool | None = None


class User(Part):
    """An account."""

    name: str
    gecos: str | None = None
    groups: list[str] | None = None
    home_dir: str | None = None
    no_create_home: bool | None = None
    password_hash: str | None = None
    primary_group: str | None = None
    shell: str | None = None
    ssh_authorized_keys: list[str] | None = None
    system: bool | None = None
    uid: int | None = None


class Passwd(Part):
    """Accounts."""

    users: list[User] | None = None
    groups: list[Group] | None = None


class DropIn(Part):
    """A change to a unit."""

    name: str
    contents: str


class Unit(Part):
    """A unit of systemd."""

    name: str
    enabled: bool | None = None
    mask: bool | None = None
    contents: str | None = None
    dropins: list[DropIn] | None = None


class Systemd(Part):
    """Units."""

    units: list[Unit]


class KernelArguments(Part):
    """Arguments that must, and that must not be there."""

    should_exist: list[str] | None = None
    should_not_exist: list[str] | None = None


class Nested(Part):
    """Configs that are merged into this one; on conflict they win."""

    merge: list[Resource]


class Tls(Part):
    """What vouches for servers, besides what the system trusts."""

    certificate_authorities: list[Resource]


class Security(Part):
    """How servers are verified."""

    tls: Tls


class Ignition(Part):
    """The config about itself."""

    version: str
    config: Nested | None = None
    security: Security | None = None


class Config(Part):
    """A whole config."""

    ignition: Ignition
    kernel_arguments: KernelArguments | None = None
    passwd: Passwd | None = None
    storage: Storage | None = None
    systemd: Systemd | None = None

    def as_json(self) -> dict[str, Any]:
        """Give the config as it stands in JSON."""
        return self.model_dump(by_alias=True, exclude_none=True)


def emit(document: dict[str, Any]) -> bytes:
    """Give a document as compact JSON.

    Raises:
        AssertionError: what was emitted does not parse back to the same document: a defect.
    """
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if json.loads(text) != document:
        raise AssertionError("the emitted JSON does not parse back to what was put in")
    return text.encode()


def resource(data: bytes, *, pack: bool = True) -> Resource:
    """Give the shortest data URL for some bytes, packed only if `pack`. The same bytes always give the same URL."""
    plain = f"data:,{quote(data, safe=_SAFE)}"
    encoded = _base64(data)
    packed = _base64(_gzip(data))
    if pack and len(packed) + len('"compression":"gzip",') < min(len(plain), len(encoded)):
        return Resource(source=packed, compression="gzip")
    return Resource(source=min(plain, encoded, key=len))


def _base64(data: bytes) -> str:
    return f"data:;base64,{base64.b64encode(data).decode()}"


def _gzip(data: bytes) -> bytes:
    # zlib writes no time and no name into the header.
    packer = zlib.compressobj(9, zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()
