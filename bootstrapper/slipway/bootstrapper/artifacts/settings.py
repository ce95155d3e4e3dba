"""Settings and flags of what machines may download; bootstrapper, controller and command line share them."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

import click
from pydantic import field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from slipway.bootstrapper.artifacts.agent import Artifacts
from slipway.bootstrapper.artifacts.catalogue import Catalogue
from slipway.bootstrapper.artifacts.trust import Trust
from slipway.bootstrapper.base_url import is_base_url
from slipway.contract.grammars import grammars

MOST_MIRRORS = 8

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--artifact-manifests", metavar="DIR", help="Signed manifests of releases that specs may ask for."),
    click.option("--artifact-keys", metavar="FILES", help="PEM files with the public keys that may have signed them."),
    click.option("--artifact-minimum-version", metavar="VERSION", help="Refuse older releases."),
    click.option("--artifact-mirrors", metavar="URLS", help="Where machines download, in order: URL/sha256/HEX."),
    click.option("--artifact-ca", metavar="FILE", help="PEM file with the certificate authorities of the mirrors."),
)


class ArtifactSettings(BaseSettings):
    """Which releases are handed out, and from where. Lists are comma-separated.

    Attributes:
        artifact_manifests: directory of signed manifests; followed when they change.
        artifact_keys: PEM files with the public keys that are trusted, read at the start.
        artifact_minimum_version: older releases are refused.
        artifact_mirrors: base URLs that machines download from, in order.
        artifact_ca: PEM file with the certificate authorities of the mirrors, read at the start.
    """

    model_config = SettingsConfigDict(
        env_prefix="SLIPWAY_", extra="ignore", frozen=True, hide_input_in_errors=True, env_ignore_empty=True
    )

    artifact_manifests: Path | None = None
    artifact_keys: Annotated[tuple[Path, ...], NoDecode] = ()
    artifact_minimum_version: str | None = None
    artifact_mirrors: Annotated[tuple[str, ...], NoDecode] = ()
    artifact_ca: Path | None = None

    @field_validator("artifact_keys", "artifact_mirrors", mode="before")
    @classmethod
    def _split_in_order(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("artifact_mirrors")
    @classmethod
    def _are_mirrors(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) > MOST_MIRRORS or not all(is_base_url(entry, {"https", "http"}) for entry in value):
            raise ValueError(f"must be at most {MOST_MIRRORS} URLs of http or https, without user and query")
        return value

    @model_validator(mode="after")
    def _can_be_trusted(self) -> Self:
        if self.artifact_manifests is not None and not self.artifact_keys:
            raise ValueError("--artifact-manifests needs --artifact-keys: no release is taken unsigned")
        try:
            self.artifacts()
        except OSError as error:
            raise ValueError(f"--artifact-keys or --artifact-ca cannot be read: {error.strerror}") from None
        return self

    def artifacts(self) -> Artifacts:
        """Give what machines may download.

        Raises:
            OSError, ValueError: as Trust.of(); or the file of the mirrors' authorities is not PEM.
        """
        trust = Trust.of(self.artifact_keys, self.artifact_minimum_version, lambda: datetime.now(UTC))
        catalogue = None if self.artifact_manifests is None else Catalogue(self.artifact_manifests, trust)
        authorities = "" if self.artifact_ca is None else self.artifact_ca.read_text("ascii", errors="replace")
        if self.artifact_ca is not None and not grammars()["pem-certificate"].check(authorities):
            raise ValueError(f"--artifact-ca must be {grammars()['pem-certificate'].description}")
        return Artifacts(catalogue, self.artifact_mirrors, authorities)


def artifact_options(command: F) -> F:
    """Add the flags to a click command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
