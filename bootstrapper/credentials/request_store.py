"""The secrets that came with a request, as a store.

A caller that sends its cluster's secrets keeps them itself.
"""

from collections.abc import Iterable

from bootstrapper.credentials.grouping import named
from bootstrapper.credentials.provided import check_provided
from bootstrapper.credentials.store import (
    ClusterKey,
    Credentials,
    CredentialStore,
    KeySettings,
    sorted_secrets,
)
from slipway.v1alpha1 import secret_pb2 as secretpb


class RequestStore:
    """Gives what the request holds, and makes nothing.

    A request that holds none of the declared secrets is answered by `otherwise`, where there is one. The
    two are never mixed: half of a cluster's secrets from one place and half from another would be the
    secrets of no cluster.
    """

    def __init__(
        self,
        material: secretpb.SecretMaterial,
        *,
        otherwise: CredentialStore | None = None,
        path: str = "credentials",
    ) -> None:
        """Wrap the secrets of a request; `path` is where they stand in it."""
        self._material = material
        self._otherwise = otherwise
        self._path = path

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give the declared secrets that the request holds.

        Raises:
            BundleInvalid: one of them is malformed, doubled, or does not belong to its other half.
        """
        declared = {declaration.name: declaration for declaration in declarations}
        held = named(self._material.secrets, declared.values())
        if not held and self._otherwise is not None:
            return self._otherwise.ensure(cluster, declared.values(), settings)
        check_provided(self._material.secrets, declared, path=self._path)
        secrets = []
        for secret in held:
            copy = secretpb.Secret()
            copy.CopyFrom(secret)
            copy.kind = declared[secret.name].kind
            secrets.append(copy)
        return Credentials(secrets=sorted_secrets(secrets))
