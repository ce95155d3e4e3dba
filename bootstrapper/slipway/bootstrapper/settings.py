"""Settings of the bootstrapper's server, beside those that every server has."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, field_validator, model_validator
from pydantic_settings import NoDecode

from slipway.bootstrapper.artifacts.settings import ArtifactSettings
from slipway.bootstrapper.callers import namespaces_by_caller
from slipway.bootstrapper.delivery.settings import DeliverySettings
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.provisioning.settings import VersionSettings
from slipway.contract.grammars import grammars
from slipway.rpc.settings import ServerSettings

Names = Annotated[frozenset[str], NoDecode]


def _is_known(pattern: str) -> bool:
    """Whether a pattern can apply. Extensions are their authors' own: any may exist."""
    start = pattern.removesuffix("*")
    if start.startswith("ext."):
        return True
    if start == pattern:
        return pattern in feature_names()
    return "ext.".startswith(start) or any(feature.startswith(start) for feature in feature_names())


class BootstrapperSettings(ArtifactSettings, DeliverySettings, VersionSettings, ServerSettings):
    """How the bootstrapper serves. Lists are comma-separated."""

    credentials_dir: Path | None = None
    profiles_dir: Path | None = None
    provisioner_profiles: bool = True
    allowed_provisioners: Names | None = None
    denied_features: Names = frozenset()
    allowed_features: Names | None = None
    bundle_secrets_for: Names = frozenset()
    callers: Names | None = None
    render_timeout_seconds: float = Field(default=10.0, gt=0, le=60)

    @field_validator(
        "allowed_provisioners", "denied_features", "allowed_features", "bundle_secrets_for", "callers", mode="before"
    )
    @classmethod
    def _split(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("denied_features", "allowed_features")
    @classmethod
    def _are_features(cls, value: frozenset[str] | None) -> frozenset[str] | None:
        if not all(grammars()["feature-id"].check(pattern.removesuffix("*") or "x") for pattern in value or ()):
            raise ValueError('must be feature ids, or beginnings that end in "*", e.g. "os.commands,ext.*"')
        unknown = sorted(pattern for pattern in value or () if not _is_known(pattern))
        if unknown:
            # It would deny nothing, although the operator relies on it.
            raise ValueError(f"names {', '.join(unknown)}, which no feature has: the page of features lists all")
        return value

    @field_validator("callers")
    @classmethod
    def _readable(cls, value: frozenset[str] | None) -> frozenset[str] | None:
        namespaces_by_caller(value or ())
        return value

    @model_validator(mode="after")
    def _versions_are_of_allowed_provisioners(self) -> Self:
        """Refuse a rule that would never apply: its name is likely misspelt, and the intended one has no rule."""
        policy = self.policy()
        if policy.allowed_provisioners is not None:
            unknown = sorted(policy.versions.by_name.keys() - policy.allowed_provisioners)
            if unknown:
                raise ValueError(f"--provisioner-versions names {', '.join(unknown)}, which may get no bundle")
        return self

    @property
    def allowed_callers(self) -> frozenset[str] | None:
        """Who may call, and about whose clusters; None for every identity that is not a service's.

        A bootstrapper that keeps credentials hands out the keys of any cluster to who asks for its first machine. With
        TLS it answers therefore nobody until callers are named.
        """
        if self.callers is None and self.credentials_dir is not None and not self.insecure:
            return frozenset()
        return self.callers

    def policy(self) -> Policy:
        """Give what the operator allows. With TLS no provisioner is allowed until it is named."""
        allowed = self.allowed_provisioners
        if allowed is None and not self.insecure:
            allowed = frozenset()
        return Policy(
            allowed_provisioners=allowed,
            denied_features=self.denied_features,
            allowed_features=self.allowed_features,
            secrets_for=self.bundle_secrets_for,
            versions=self.versions(),
        )
