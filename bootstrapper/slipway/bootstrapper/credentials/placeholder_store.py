"""Secrets for questions that must create nothing: explain, validate and diff."""

from collections.abc import Iterable
from datetime import UTC, datetime

from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.placeholder_entropy import PlaceholderEntropy
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings, sorted_secrets
from slipway.v1alpha1 import secret_pb2 as secretpb

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class PlaceholderStore:
    """Gives public placeholders of the size and form that the real secrets would have; they never expire."""

    def __init__(self) -> None:
        """Make the store."""
        self._factory = SecretFactory(entropy=PlaceholderEntropy(), clock=lambda: _ANY_DAY)

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give a placeholder for every declared secret; the same ones at every call, for every cluster."""
        del cluster
        secrets = self._factory.make_missing(list(declarations), existing={}, settings=settings)
        for secret in secrets:
            secret.ClearField("expire_time")
        return Credentials(secrets=sorted_secrets(secrets), placeholder=True)
