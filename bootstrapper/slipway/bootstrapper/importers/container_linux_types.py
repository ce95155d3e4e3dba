"""The types of a Container Linux Config: scalars, disks and filesystems, and what it says of Ignition itself.

All scalars are text until the type of their field is known, as in Go.
"""

# ruff: noqa: RUF012  # pydantic copies defaults

import re
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from slipway.bootstrapper.importers.foreign import Foreign
from slipway.contract.yaml_scalars import go_integer, plain_value

Text = Annotated[str, Field(max_length=32768)]

_PART = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<unit>[KMGTPE]i?)?B")
_UNITS = {unit: 1024**power for power, unit in enumerate("_KMGTPE")}
_MIB = 1024**2
_LONGEST_SIZE = 64


def _integer(value: object) -> object:
    return number if isinstance(value, str) and (number := go_integer(value)) is not None else value


def _boolean(value: object) -> object:
    return known if isinstance(value, str) and isinstance(known := plain_value(value), bool) else value


Integer = Annotated[int, BeforeValidator(_integer)]
Boolean = Annotated[bool, BeforeValidator(_boolean)]
Mode = Annotated[Integer, Field(ge=0, le=0o7777)]


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


_Seconds = Annotated[Integer, Field(ge=0)]


class Hash(Foreign):
    """Hash of remote content."""

    function: Literal["sha512"]
    sum: Text


class Verification(Foreign):
    """How remote content is verified."""

    hash: Hash | None = None


class Reference(Foreign):
    """A config or a certificate that the machine downloads."""

    source: Annotated[Text, Field(min_length=1)]
    verification: Verification | None = None


class Configs(Foreign):
    """Further configs."""

    append: list[Reference] = []
    replace: Reference | None = None


class Timeouts(Foreign):
    """How long downloads may take, in seconds."""

    http_response_headers: Annotated[_Seconds | None, Field(alias="http_response_headers")] = None
    http_total: Annotated[_Seconds | None, Field(alias="http_total")] = None


class Tls(Foreign):
    """Authorities of the servers that downloads come from."""

    certificate_authorities: Annotated[list[Reference], Field(alias="certificate_authorities")] = []


class Security(Foreign):
    """Whom Ignition trusts."""

    tls: Tls = Tls()


class Ignition(Foreign):
    """Settings of Ignition."""

    config: Configs = Configs()
    timeouts: Timeouts = Timeouts()
    security: Security = Security()
