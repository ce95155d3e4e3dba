"""What a KubeadmConfigSpec says about the operating system; both API versions agree on it but for pointers.

An empty text is the same as none, as in Go; only what is required must not be empty.
"""

# ruff: noqa: RUF012  # pydantic copies defaults

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator

from slipway.bootstrapper.importers.foreign import Foreign

_PARTITION_TYPE = re.compile(
    r"Linux|LinuxSwap|LinuxRAID|LVM|Fat32|NTFS|LinuxExtended|[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
)

Path = Annotated[str, Field(min_length=1, max_length=512)]
Short = Annotated[str, Field(max_length=256)]
Required = Annotated[str, Field(min_length=1, max_length=256)]
Command = Annotated[str, Field(max_length=10240)]
Commands = Annotated[list[Command], Field(max_length=1000)]


class SecretKey(Foreign):
    """One key of a Secret in the config's namespace."""

    name: Annotated[str, Field(min_length=1, max_length=253)]
    key: Required


class SecretSource(Foreign):
    """A union with one member today."""

    secret: SecretKey


class File(Foreign):
    """An entry of files."""

    path: Path
    owner: Short = ""
    permissions: Annotated[str, Field(max_length=16)] = ""
    encoding: Literal["", "base64", "gzip", "gzip+base64"] = ""
    append: bool | None = None
    content: Annotated[str, Field(max_length=10240)] | None = None
    content_from: SecretSource | None = None
    content_format: Literal["", "Raw", "Template"] = ""


class User(Foreign):
    """An entry of users."""

    name: Required
    gecos: Short | None = None
    groups: Short | None = None
    home_dir: Short | None = None
    inactive: bool | None = None
    shell: Short | None = None
    passwd: Annotated[str, Field(repr=False)] = ""
    passwd_from: SecretSource | None = None
    primary_group: Short | None = None
    lock_password: bool | None = None
    sudo: Short | None = None
    ssh_authorized_keys: Annotated[list[Annotated[str, Field(max_length=2048)]], Field(max_length=100)] = []

    @field_validator("passwd")
    @classmethod
    def _bounded(cls, value: str) -> str:
        if len(value) > 256:  # noqa: PLR2004 - the upstream bound, as for Short
            raise ValueError("longer than 256 characters")
        return value


class Ntp(Foreign):
    """Time servers."""

    servers: Annotated[list[Annotated[str, Field(min_length=1, max_length=512)]], Field(max_length=100)] = []
    enabled: bool | None = None


class PartitionSpec(Foreign):
    """An entry of diskLayout."""

    percentage: Annotated[int, Field(ge=1, le=100)]
    partition_type: str = ""

    @field_validator("partition_type")
    @classmethod
    def _known(cls, value: str) -> str:
        if value and not _PARTITION_TYPE.fullmatch(value):
            raise ValueError(
                "must be Linux, LinuxSwap, LinuxRAID, LVM, Fat32, NTFS, LinuxExtended or a GPT partition GUID"
            )
        return value


class Partition(Foreign):
    """The partition table of a device."""

    device: Required
    layout: bool | None = None
    overwrite: bool | None = None
    table_type: Literal["", "mbr", "gpt"] = ""
    disk_layout: Annotated[list[PartitionSpec], Field(max_length=100)] = []


class Filesystem(Foreign):
    """A filesystem."""

    device: Required
    filesystem: Annotated[str, Field(min_length=1, max_length=128)]
    label: Annotated[str, Field(max_length=512)] = ""
    partition: Annotated[str, Field(max_length=128)] = ""
    overwrite: bool | None = None
    replace_fs: Annotated[str, Field(alias="replaceFS", max_length=128)] = ""
    extra_opts: Annotated[list[Required], Field(max_length=100)] = []


class DiskSetup(Foreign):
    """Partitions and filesystems."""

    partitions: Annotated[list[Partition], Field(max_length=100)] = []
    filesystems: Annotated[list[Filesystem], Field(max_length=100)] = []


class ContainerLinuxConfig(Foreign):
    """A snippet of Container Linux Config, YAML in a text."""

    additional_config: Annotated[str, Field(max_length=32768, repr=False)] = ""
    strict: bool | None = None


class Ignition(Foreign):
    """What belongs to the format ignition."""

    container_linux_config: ContainerLinuxConfig | None = None


class OsItems(Foreign):
    """The fields of a KubeadmConfigSpec that are not kubeadm's."""

    files: Annotated[list[File], Field(max_length=200)] = []
    disk_setup: DiskSetup | None = None
    mounts: Annotated[
        list[Annotated[list[Annotated[str, Field(max_length=512)]], Field(min_length=1, max_length=100)]],
        Field(max_length=100),
    ] = []
    boot_commands: Commands = []
    pre_kubeadm_commands: Commands = []
    post_kubeadm_commands: Commands = []
    users: Annotated[list[User], Field(max_length=100)] = []
    ntp: Ntp | None = None
    format: Literal["", "cloud-config", "ignition"] = ""
    verbosity: Annotated[int, Field(ge=-(2**31), le=2**31 - 1)] | None = None
    ignition: Ignition | None = None
