"""Settings of the controller, beside those that a bootstrapper's server has."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import Field, field_validator
from pydantic_settings import NoDecode

from bootstrapper.callers import namespaces_by_caller
from bootstrapper.settings import BootstrapperSettings
from services.controller.reconciler import Terms


class ControllerSettings(BootstrapperSettings):
    """How the controller works. Lists are comma-separated, times in seconds."""

    kubeconfig: Path | None = None
    namespace: str = ""
    watch_filter: str = ""
    lease_namespace: str | None = None
    leader_elect: bool = True
    workers: int = Field(default=32, ge=1, le=1000)
    kube_api_qps: float = Field(default=100.0, ge=0, le=10_000)
    kube_api_burst: int = Field(default=200, ge=0, le=20_000)
    bootstrap_token_ttl_seconds: float = Field(default=900.0, ge=60, le=86_400)
    machine_readers: Annotated[frozenset[str], NoDecode] = frozenset()

    @field_validator("machine_readers", mode="before")
    @classmethod
    def _split_readers(cls, value: object) -> object:
        return frozenset(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value

    @field_validator("machine_readers")
    @classmethod
    def _check_readers(cls, value: frozenset[str]) -> frozenset[str]:
        namespaces_by_caller(value)
        return value

    @property
    def terms(self) -> Terms:
        """Times of the reconciler."""
        return Terms(token_ttl=timedelta(seconds=self.bootstrap_token_ttl_seconds))
