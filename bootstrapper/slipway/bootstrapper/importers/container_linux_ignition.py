"""What a Container Linux Config says of Ignition itself: timeouts, authorities that it trusts, further configs."""

# ruff: noqa: RUF012  # pydantic copies defaults

from typing import Annotated, Literal

from pydantic import Field

from slipway.bootstrapper.importers.container_linux_types import Integer, Text
from slipway.bootstrapper.importers.foreign import Foreign

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
