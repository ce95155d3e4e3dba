"""The small interface behind which a cluster's secrets are kept, so that nobody else knows where that is."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from slipway.bootstrapper.credentials.entropy import KeyType
from slipway.v1alpha1 import secret_pb2 as secretpb


@dataclass(frozen=True)
class ClusterKey:
    """A cluster, as a store identifies it."""

    name: str
    namespace: str = ""


@dataclass(frozen=True)
class KeySettings:
    """What a cluster's settings say about secrets that have to be made."""

    key_type: KeyType = KeyType.ECDSA_P256
    authority_validity: timedelta = timedelta(days=3650)
    client_validity: timedelta = timedelta(days=365)
    token_lifetime: timedelta = timedelta(hours=24)


@dataclass(frozen=True, repr=False)
class Credentials:
    """Secrets that a store gave, sorted by name and key. The repr shows none of them.

    Attributes:
        secrets: what was asked for, as far as the store has it.
        warnings: sentences that the person who asked must see.
        placeholder: the secrets are public placeholders; user data made of them must never leave a dry run.
    """

    secrets: tuple[secretpb.Secret, ...]
    warnings: tuple[str, ...] = ()
    placeholder: bool = False

    def __repr__(self) -> str:
        return f"Credentials({len(self.secrets)} secrets, placeholder={self.placeholder})"


class CredentialStore(Protocol):
    """Keeps secrets by cluster. Calls may block for seconds (disk, key generation).

    Keep them off an event loop.
    """

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give every declared secret; a store that makes secrets makes those that the cluster lacks.

        A secret that exists is given as it is, whatever `settings` say.
        """
        ...


@runtime_checkable
class AwaitedStore(Protocol):
    """A store behind a network: it takes no thread while it waits."""

    async def give(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give what CredentialStore.ensure gives."""
        ...


AnyStore = CredentialStore | AwaitedStore


def sorted_secrets(secrets: Iterable[secretpb.Secret]) -> tuple[secretpb.Secret, ...]:
    """Sort as SecretMaterial wants it."""
    return tuple(sorted(secrets, key=lambda secret: (secret.name, secret.key)))
