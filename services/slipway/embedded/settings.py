"""Settings of servers that can have provisioners in their own process."""

from dataclasses import replace
from typing import Annotated, Self

import click
from pydantic import field_validator, model_validator
from pydantic_settings import NoDecode

from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.settings import BootstrapperSettings
from slipway.embedded.provisioners import NAMES

embedded_option = click.option(
    "--embedded-provisioners",
    metavar="NAMES",
    help=f"Provisioners in this process: {', '.join(NAMES)}; comma-separated. A registry cannot replace them.",
)
"""The flag."""


class EmbeddedSettings(BootstrapperSettings):
    """How a server finds provisioners: in its own process, in a registry, or both."""

    embedded_provisioners: Annotated[frozenset[str], NoDecode] = frozenset()

    @field_validator("embedded_provisioners", mode="before")
    @classmethod
    def _split_embedded(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("embedded_provisioners")
    @classmethod
    def _check_embedded(cls, value: frozenset[str]) -> frozenset[str]:
        unknown = sorted(value - set(NAMES))
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not an embedded provisioner; choose from {', '.join(NAMES)}")
        return value

    @model_validator(mode="after")
    def _has_provisioners(self) -> Self:
        if not self.embedded_provisioners and self.registry_address is None:
            raise ValueError(
                "--embedded-provisioners or --registry-address is needed: without either there is no provisioner"
            )
        return self

    def policy(self) -> Policy:
        """Return what the operator allows. Embedded provisioners are allowed unless a list says otherwise."""
        policy = super().policy()
        if self.allowed_provisioners is not None or policy.allowed_provisioners is None:
            return policy
        return replace(policy, allowed_provisioners=self.embedded_provisioners)
