"""Settings of user data that machines fetch; bootstrapper, controller and command line share them."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import click
from pydantic import Field, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from slipway.bootstrapper.base_url import is_base_url
from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.bootstrapper.delivery.infrastructure import infrastructures
from slipway.contract.grammars import grammars

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--fetch-infrastructures",
        metavar="NAMES",
        help="Infrastructures whose machines may fetch their user data (delivery.mode: Fetch). Default: none.",
    ),
    click.option(
        "--payload-url-base",
        metavar="URL",
        help="Where machines fetch payloads, of the node gateway: https://HOST:PORT.",
    ),
    click.option(
        "--payload-ca",
        metavar="FILE",
        help="PEM file with the certificate authorities of the node gateway. Default: those of each machine's system.",
    ),
)


def delivery_options(command: F) -> F:
    """Add the flags to a click command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class DeliverySettings(BaseSettings):
    """Who may fetch user data, and from where. Lists are comma-separated.

    Attributes:
        fetch_infrastructures: where machines may.
        payload_url_base: address of the node gateway.
        payload_ca: PEM file with its certificate authorities, read at the start.
    """

    model_config = SettingsConfigDict(
        env_prefix="SLIPWAY_", extra="ignore", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    fetch_infrastructures: Annotated[frozenset[str], NoDecode] = frozenset()
    payload_url_base: str | None = Field(default=None, max_length=512)
    payload_ca: Path | None = None

    @field_validator("fetch_infrastructures", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("fetch_infrastructures")
    @classmethod
    def _are_infrastructures(cls, value: frozenset[str]) -> frozenset[str]:
        unknown = sorted(value - infrastructures().keys())
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not in the table of infrastructures")
        changing = sorted(name for name in value if not infrastructures()[name].verbatim)
        if changing:
            raise ValueError(f"{', '.join(changing)}: changes user data on their way, which a stub does not survive")
        return value

    @field_validator("payload_url_base")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not is_base_url(value, {"https"}):
            raise ValueError("--payload-url-base must be https://HOST[:PORT][/PATH] in ASCII, without user and query")
        return value

    @model_validator(mode="after")
    def _has_a_gateway(self) -> Self:
        if self.fetch_infrastructures and self.payload_url_base is None:
            raise ValueError("--fetch-infrastructures needs --payload-url-base: machines fetch from there")
        try:
            self.fetching()
        except OSError as error:
            raise ValueError(f"--payload-ca cannot be read: {error.strerror}") from None
        return self

    def fetching(self) -> Fetching | None:
        """Give what is allowed; None where nothing is.

        Raises:
            OSError: the file of authorities cannot be read.
            ValueError: it is not PEM.
        """
        if self.payload_url_base is None or not self.fetch_infrastructures:
            return None
        authorities = "" if self.payload_ca is None else self.payload_ca.read_text("ascii", errors="replace")
        if self.payload_ca is not None and not grammars()["pem-certificate"].check(authorities):
            raise ValueError(f"--payload-ca must be {grammars()['pem-certificate'].description}")
        return Fetching(self.fetch_infrastructures, self.payload_url_base.rstrip("/"), authorities)
