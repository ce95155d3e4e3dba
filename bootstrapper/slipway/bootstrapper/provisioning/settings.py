"""Which versions of provisioners the operator allows; bootstrapper, controller and command line share the setting."""

from typing import Annotated

import click
from pydantic import field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from slipway.bootstrapper.provisioning.versions import VersionRules

VERSIONS_FLAG = "--provisioner-versions"

versions_option = click.option(
    VERSIONS_FLAG,
    metavar="RULES",
    help="Versions that may get bundles: NAME>=VERSION or NAME==VERSION, comma-separated. Default: the newest.",
)


class VersionSettings(BaseSettings):
    """The rules for versions of provisioners, comma-separated."""

    model_config = SettingsConfigDict(
        env_prefix="SLIPWAY_", extra="ignore", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    provisioner_versions: Annotated[tuple[str, ...], NoDecode] = ()

    @field_validator("provisioner_versions", mode="before")
    @classmethod
    def _split_rules(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("provisioner_versions")
    @classmethod
    def _check_rules(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        VersionRules.parse(value)
        return value

    def versions(self) -> VersionRules:
        """Return the rules."""
        return VersionRules.parse(self.provisioner_versions)
