"""Keeps secrets in memory: good for a first look, and said so, because the next start makes other ones."""

import threading
from collections.abc import Iterable

from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings, by_name, named, sorted_secrets
from slipway.v1alpha1 import secret_pb2 as secretpb

WARNING = (
    "The cluster's secrets exist only in the memory of this process: machines of another process will "
    "not be able to join. Keep them in a directory (--credentials DIR) or send them with the request."
)


class EphemeralStore:
    """A store that forgets everything with its process."""

    def __init__(self, factory: SecretFactory) -> None:
        """Make an empty store."""
        self._factory = factory
        self._clusters: dict[ClusterKey, list[secretpb.Secret]] = {}
        self._lock = threading.Lock()

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give every declared secret, making those that the cluster does not have yet."""
        declared = list(declarations)
        with self._lock:
            secrets = self._clusters.setdefault(cluster, [])
            secrets += self._factory.make_missing(declared, existing=by_name(secrets), settings=settings)
            return Credentials(secrets=sorted_secrets(named(secrets, declared)), warnings=(WARNING,))
