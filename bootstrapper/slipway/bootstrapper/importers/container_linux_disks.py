"""Disks and filesystems of a Container Linux Config."""

# ruff: noqa: RUF012  # pydantic copies defaults

import re
from fractions import Fraction
from typing import Annotated

from pydantic import BeforeValidator, Field

from slipway.bootstrapper.importers.container_linux_types import Boolean, Integer, Text
from slipway.bootstrapper.importers.foreign import Foreign

_PART = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>[KMGTPE]i?)?B")
_UNITS = {unit: 1024**power for power, unit in enumerate("_KMGTPE")}
_MIB = 1024**2
_LONGEST_SIZE = 64


def _mebibytes(value: object) -> object:
    """Give a size, such as 512MiB or 1GiB512MiB, in MiB, as the transpiler does: MB is MiB there, too."""
    if value == "":
        return 0
    if not isinstance(value, str):
        return value
    if value.strip("0") == "":
        return 0
    parts = list(_PART.finditer(value)) if len(value) <= _LONGEST_SIZE else []
    total = sum(Fraction(part["number"]) * _UNITS[(part["unit"] or "_")[0]] for part in parts)
    if not parts or "".join(part[0] for part in parts) != value or total % _MIB:
        raise ValueError("must be a size in whole MiB, such as 512MiB or 1GiB")
    return int(total // _MIB)


Size = Annotated[int, BeforeValidator(_mebibytes)]


class Partition(Foreign):
    """A partition."""

    label: Text | None = None
    number: Annotated[Integer, Field(ge=0)] = 0
    size: Size = 0
    start: Size = 0
    guid: Text = ""
    type_guid: Annotated[Text, Field(alias="type_guid")] = ""


class Disk(Foreign):
    """A disk."""

    device: Annotated[Text, Field(min_length=1)]
    wipe_table: Annotated[Boolean, Field(alias="wipe_table")] = False
    partitions: list[Partition] = []


class Create(Foreign):
    """How a filesystem was made in the first version of the language."""

    force: Boolean = False
    options: list[Text] = []


class Mount(Foreign):
    """The filesystem on a device."""

    device: Annotated[Text, Field(min_length=1)]
    format: Annotated[Text, Field(min_length=1)]
    create: Create | None = None
    wipe_filesystem: Annotated[Boolean, Field(alias="wipe_filesystem")] = False
    label: Text | None = None
    uuid: Text | None = None
    options: list[Text] = []


class Filesystem(Foreign):
    """A filesystem."""

    name: Text = ""
    mount: Mount | None = None
    path: Text | None = None
