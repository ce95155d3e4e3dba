"""The secrets that came with a request, as a store.

A caller that sends its cluster's secrets keeps them itself.
"""

import asyncio
from collections.abc import Iterable

from slipway.bootstrapper.credentials.provided import check_provided
from slipway.bootstrapper.credentials.store import (
    AnyStore,
    AwaitedStore,
    ClusterKey,
    Credentials,
    KeySettings,
    named,
    sorted_secrets,
)
from slipway.v1alpha1 import secret_pb2 as secretpb


class RequestStore:
    """Gives what the request holds, and makes nothing."""

    def __init__(self, material: secretpb.SecretMaterial, *, path: str = "credentials") -> None:
        """Wrap the secrets of a request; `path` is where they stand in it."""
        self._material = material
        self._path = path

    def holds_any(self, declarations: Iterable[secretpb.SecretDeclaration]) -> bool:
        """Return whether the request holds one of the declared secrets at least."""
        return bool(named(self._material.secrets, declarations))

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give the declared secrets that the request holds.

        Raises:
            BundleInvalid: one of them is malformed, doubled, or does not belong to its other half.
        """
        del cluster, settings
        declared = {declaration.name: declaration for declaration in declarations}
        held = named(self._material.secrets, declared.values())
        check_provided(self._material.secrets, declared, path=self._path)
        secrets = []
        for secret in held:
            copy = secretpb.Secret()
            copy.CopyFrom(secret)
            copy.kind = declared[secret.name].kind
            secrets.append(copy)
        return Credentials(secrets=sorted_secrets(secrets))


async def ensured(
    request: RequestStore,
    store: AnyStore | None,
    cluster: ClusterKey,
    declarations: Iterable[secretpb.SecretDeclaration],
    settings: KeySettings,
) -> Credentials:
    """Give the declared secrets of a request; those of the store, where there is one, when it holds none of them.

    The two are never mixed: half of a cluster's secrets from one place and half from another would be the secrets of no
    cluster.

    Raises:
        SlipwayError: what the one that was asked raises.
    """
    declared = list(declarations)
    asked_store = request if store is None or request.holds_any(declared) else store
    if isinstance(asked_store, AwaitedStore):
        return await asked_store.give(cluster, declared, settings)
    return await asyncio.to_thread(asked_store.ensure, cluster, declared, settings)
