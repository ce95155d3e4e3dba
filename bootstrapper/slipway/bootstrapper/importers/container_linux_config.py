"""ignition.containerLinuxConfig.additionalConfig holds a document of its own: a Container Linux Config, in YAML.

A listed subset of it becomes neutral items: files (also remote ones), directories, links, disks, filesystems, units
with drop-ins and mask, units of networkd, users and groups, and the settings of Ignition, updates and reboots. The
rest of the language is refused with its path; there is no transpiler here. Source:
flatcar/container-linux-config-transpiler v0.9.4.
"""

# ruff: noqa: RUF012  # pydantic copies defaults

import base64
import binascii
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from slipway.bootstrapper.importers.container_linux_settings import Locksmith, Networkd, Update
from slipway.bootstrapper.importers.container_linux_types import (
    Boolean,
    Disk,
    Filesystem,
    Ignition,
    Integer,
    Mode,
    Text,
    Verification,
)
from slipway.bootstrapper.importers.foreign import Foreign, read
from slipway.contract.source_position import UNKNOWN_FIELD, FieldPath, Position, SourceError, SourceProblem, path_text
from slipway.contract.yaml_document import Document, Source
from slipway.contract.yaml_limits import SHORT
from slipway.contract.yaml_scalars import TAG_PREFIX, plain_value
from slipway.contract.yaml_source import load_documents


def _go_text(text: str, tag: str | None, plain: bool) -> str | bytes | None:  # noqa: FBT001 - ScalarReader's shape
    """Keep scalars as text: Go decodes them by the type of the field, and so do the models below."""
    if tag == TAG_PREFIX + "binary":
        try:
            return base64.b64decode("".join(text.split()), validate=True)
        except binascii.Error:
            raise ValueError("!!binary needs base64") from None
    return None if plain and tag is None and plain_value(text) is None else text


class Account(Foreign):
    """Owner of a file, by name or number."""

    id: Annotated[Integer, Field(ge=0)] | None = None
    name: Text = ""


class Remote(Foreign):
    """Content that the machine downloads."""

    url: Annotated[Text, Field(min_length=1)]
    verification: Verification | None = None


class Contents(Foreign):
    """Content of a file."""

    inline: Text | Annotated[bytes, Field(max_length=32768)] | None = None
    remote: Remote | None = None


class Node(Foreign):
    """What files, directories and links have in common."""

    filesystem: Text = "root"
    path: Annotated[Text, Field(min_length=1)]
    user: Account | None = None
    group: Account | None = None
    overwrite: Boolean | None = None


class File(Node):
    """A file."""

    contents: Contents | None = None
    mode: Mode | None = None
    append: Boolean = False


class Directory(Node):
    """A directory."""

    mode: Mode | None = None


class Link(Node):
    """A link."""

    target: Annotated[Text, Field(min_length=1)]
    hard: Boolean = False


class Storage(Foreign):
    """Files, directories, links, disks and filesystems."""

    files: list[File] = []
    directories: list[Directory] = []
    links: list[Link] = []
    disks: list[Disk] = []
    filesystems: list[Filesystem] = []


class DropIn(Foreign):
    """A drop-in of a unit."""

    name: Annotated[Text, Field(min_length=1)]
    contents: Text = ""


class Unit(Foreign):
    """A unit of systemd."""

    name: Annotated[Text, Field(min_length=1)]
    enable: Boolean | None = None
    enabled: Boolean | None = None
    mask: Boolean = False
    contents: Text = ""
    dropins: list[DropIn] = []


class Systemd(Foreign):
    """Units."""

    units: list[Unit] = []


class User(Foreign):
    """An account."""

    name: Annotated[Text, Field(min_length=1)]
    password_hash: Annotated[Text, Field(repr=False, alias="password_hash")] = ""
    ssh_authorized_keys: Annotated[list[Text], Field(alias="ssh_authorized_keys")] = []
    uid: Annotated[Integer, Field(ge=0)] | None = None
    gecos: Text = ""
    home_dir: Annotated[Text, Field(alias="home_dir")] = ""
    no_create_home: Annotated[Boolean, Field(alias="no_create_home")] = False
    primary_group: Annotated[Text, Field(alias="primary_group")] = ""
    groups: list[Text] = []
    system: Boolean = False
    shell: Text = ""


class Group(Foreign):
    """A group."""

    name: Annotated[Text, Field(min_length=1)]
    gid: Annotated[Integer, Field(ge=0)] | None = None
    system: Boolean = False


class Passwd(Foreign):
    """Users and groups."""

    users: list[User] = []
    groups: list[Group] = []


class ContainerLinuxConfig(Foreign):
    """The part of the language that is understood."""

    ignition: Ignition = Ignition()
    storage: Storage = Storage()
    systemd: Systemd = Systemd()
    passwd: Passwd = Passwd()
    networkd: Networkd = Networkd()
    update: Update | None = None
    locksmith: Locksmith | None = None


_UNDERSTOOD = (
    "not understood here: only files, directories, links, disks, filesystems, units, networkd units, users, groups, "
    "update, locksmith and ignition are carried over; write the files or units that the transpiler makes of it"
)


def read_container_linux_config(text: str, *, source: Source, path: FieldPath) -> ContainerLinuxConfig:
    """Read the snippet.

    Args:
        text: the snippet.
        source: where the document stands that holds it.
        path: path of the snippet in that document.

    Raises:
        SourceError: not YAML, or beyond what is understood; paths are those of the document, then a colon, then
            those of the snippet.
    """
    try:
        documents = load_documents(text, file=source.file, scalars=_go_text, limits=SHORT)
        return _checked(documents) if documents else ContainerLinuxConfig()
    except SourceError as error:
        raise SourceError(_outer(problem, source, path) for problem in error.problems) from None


def _checked(documents: list[Document]) -> ContainerLinuxConfig:
    document = documents[0]
    if len(documents) > 1:
        raise SourceError([documents[1].source.problem((), "more than one document")])
    try:
        return read(ContainerLinuxConfig, document.value, source=document.source)
    except SourceError as error:
        raise SourceError(
            replace(problem, message=_UNDERSTOOD) if problem.code == UNKNOWN_FIELD else problem
            for problem in error.problems
        ) from None


def _outer(problem: SourceProblem, source: Source, path: FieldPath) -> SourceProblem:
    position = source.text_position(path, problem.position or Position(1, 1))
    where = f"{path_text(path)}: {problem.path}" if problem.path else path_text(path)
    return SourceProblem(source.file, position, where, problem.message)
