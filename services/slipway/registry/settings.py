"""Settings of the registry's server, beside those that every server has."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from slipway.registry.announcement import Gate
from slipway.registry.registrations import LeaseDuration
from slipway.rpc.settings import ServerSettings


class RegistrySettings(ServerSettings):
    """How the registry serves. Lists are comma-separated, times in seconds."""

    allowed_provisioners: Annotated[frozenset[str] | None, NoDecode] = None
    static_endpoints: Path | None = None
    lease_ttl_seconds: float = Field(default=30.0, ge=1, le=3600)
    renew_after_seconds: float = Field(default=10.0, gt=0, le=3600)
    probe_seconds: float = Field(default=10.0, gt=0, le=3600)
    dial_seconds: float = Field(default=2.0, gt=0, le=60)
    lease_namespace: str | None = None
    kubeconfig: Path | None = None

    @field_validator("allowed_provisioners", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _renewal_is_in_time(self) -> Self:
        if self.renew_after_seconds * 2 > self.lease_ttl_seconds:
            raise ValueError("--renew-after-seconds must be at most half of --lease-ttl-seconds")
        return self

    @model_validator(mode="after")
    def _leases_need_names(self) -> Self:
        if self.lease_namespace is not None and self.insecure:
            raise ValueError("--lease-namespace needs TLS: the ids of leases can be read there")
        return self

    @property
    def lease_duration(self) -> LeaseDuration:
        """How long leases last."""
        return LeaseDuration(ttl=self.lease_ttl_seconds, renew_after=self.renew_after_seconds)

    @property
    def gate(self) -> Gate:
        """Who may register."""
        return Gate(allowed=self.allowed_provisioners, trust_domain=self.trust_domain, secure=not self.insecure)
