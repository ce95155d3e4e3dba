"""Settings that every server has, from flags and from the environment (prefix SLIPWAY_).

One model for all, so that each service is run in the same way: the process contract that third parties follow.
"""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

import click
from pydantic import Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from slipway.contract.roles import DEFAULT_TRUST_DOMAIN
from slipway.rpc.addresses import can_be_listened_on, host_of, is_endpoint, is_loopback, joined

_Seconds = Annotated[float, Field(ge=0, le=3600)]


class ServerSettings(BaseSettings):
    """How a server listens, proves itself, is watched, and ends. Times are in seconds."""

    model_config = SettingsConfigDict(
        env_prefix="SLIPWAY_", extra="ignore", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    listen_address: str = "[::]:9443"
    advertise_address: str | None = None
    advertise_host: str | None = None
    tls_cert_dir: Path | None = None
    insecure: bool = False
    trust_domain: str = Field(default=DEFAULT_TRUST_DOMAIN, pattern=r"^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$")
    registry_address: str | None = None
    health_address: str | None = None
    metrics_address: str | None = None
    otlp_endpoint: str | None = None
    log_format: Literal["auto", "json", "console"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    production: bool = False
    reflection: bool | None = None
    max_concurrent_calls: int = Field(default=64, ge=1, le=10_000)
    max_call_seconds: _Seconds = 30.0
    drain_propagation_seconds: _Seconds | None = None
    drain_grace_seconds: _Seconds = 20.0

    @field_validator("listen_address", "health_address", "metrics_address")
    @classmethod
    def _can_be_listened_on(cls, value: str | None) -> str | None:
        if value is not None and not can_be_listened_on(value):
            raise ValueError("must be HOST:PORT, with a port from 0 (any that is free) to 65535")
        return value

    @field_validator("*", mode="before")
    @classmethod
    def _says_yes_or_no(cls, value: Any, info: ValidationInfo) -> Any:
        """Take only the contract's two words for a yes or a no: what another one means is a guess."""
        decides = cls.model_fields[str(info.field_name)].annotation in (bool, bool | None)
        if decides and isinstance(value, str) and value not in ("true", "false"):
            raise ValueError("must be true or false")
        return value

    @model_validator(mode="after")
    def _transport_is_chosen(self) -> Self:
        if self.insecure and self.tls_cert_dir is not None:
            raise ValueError("--insecure and --tls-cert-dir exclude each other: choose one")
        if not self.insecure and self.tls_cert_dir is None:
            raise ValueError("give --tls-cert-dir DIR, or --insecure to serve this machine only")
        if self.insecure and not is_loopback(self.listen_address):
            raise ValueError("--insecure serves this machine only: give --listen-address 127.0.0.1:PORT")
        return self

    @model_validator(mode="after")
    def _others_can_reach_it(self) -> Self:
        if self.advertise_address is not None and self.advertise_host is not None:
            raise ValueError("--advertise-address and --advertise-host exclude each other: choose one")
        if self.advertise_address is not None and not is_endpoint(self.advertise_address):
            raise ValueError("--advertise-address must be HOST:PORT, an IPv6 address in brackets")
        if self.advertise_host is not None and not is_endpoint(joined(self.advertise_host, 1)):
            raise ValueError("--advertise-host must be one name or address, without a port")
        return self

    @property
    def serves_reflection(self) -> bool:
        """Whether reflection is on: as said, else everywhere but in production."""
        return not self.production if self.reflection is None else self.reflection

    @property
    def propagation_seconds(self) -> float:
        """Time between NOT_SERVING and the end of new calls: as said, else 5 s, or none on this machine only."""
        if self.drain_propagation_seconds is not None:
            return self.drain_propagation_seconds
        return 0.0 if self.insecure else 5.0

    def advertised(self, *, port: int) -> str:
        """Give the address that others call: as said, else the listening one, or this host's name for "any"."""
        if self.advertise_address is not None:
            return self.advertise_address
        if self.advertise_host is not None:
            return joined(self.advertise_host, port)
        host = host_of(self.listen_address)
        if host in ("", "::", "0.0.0.0"):  # noqa: S104  # compared, not bound
            import socket  # noqa: PLC0415  # only for an address without a host

            host = socket.gethostname()
        return joined(host, port)

    @classmethod
    def load(cls, flags: dict[str, Any] | None = None, **more: Any) -> Self:
        """Give the settings: flags that were given win over the environment.

        Raises:
            click.UsageError: they are not valid; the text names the settings, never a value.
        """
        values = {key: value for key, value in {**(flags or {}), **more}.items() if value is not None}
        try:
            return cls(**values)
        except ValidationError as error:
            raise click.UsageError("\n".join(_explained(error))) from None


def _explained(error: ValidationError) -> list[str]:
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        flag = "--" + str(problem["loc"][0]).replace("_", "-") + ": " if problem["loc"] else ""
        lines.append(flag + problem["msg"].removeprefix("Value error, "))
    return lines
