"""The small interface behind which a cluster's secrets are kept, so that nobody else knows where that is.

Stores look at secrets by name; the contract lists them one value at a time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, runtime_checkable

from slipway.bootstrapper.credentials.entropy import KeyType
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

_KEY_TYPES = {
    kubernetespb.KEY_ALGORITHM_RSA_2048: KeyType.RSA_2048,
    kubernetespb.KEY_ALGORITHM_RSA_3072: KeyType.RSA_3072,
    kubernetespb.KEY_ALGORITHM_RSA_4096: KeyType.RSA_4096,
    kubernetespb.KEY_ALGORITHM_ECDSA_P256: KeyType.ECDSA_P256,
    kubernetespb.KEY_ALGORITHM_ECDSA_P384: KeyType.ECDSA_P384,
}


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


def by_name(secrets: Iterable[secretpb.Secret]) -> dict[str, dict[str, bytes]]:
    """Group values by name and key."""
    grouped: dict[str, dict[str, bytes]] = {}
    for secret in secrets:
        grouped.setdefault(secret.name, {})[secret.key] = secret.value
    return grouped


def named(
    secrets: Iterable[secretpb.Secret], declarations: Iterable[secretpb.SecretDeclaration]
) -> list[secretpb.Secret]:
    """Keep the secrets that were declared."""
    names = {declaration.name for declaration in declarations}
    return [secret for secret in secrets if secret.name in names]


def key_settings(spec: specpb.MachineBootstrapSpec) -> KeySettings:
    """Give the settings: what the spec says, else ECDSA P-256, else RSA-2048 for an imported one.

    Nothing changes for the owners of imported configs: the kubeadm provider makes RSA-2048 keys.
    """
    certificates = spec.kubernetes.certificates
    default = KeyType.RSA_2048 if spec.HasField("imported") else KeyType.ECDSA_P256
    settings = KeySettings(key_type=_KEY_TYPES.get(certificates.key_algorithm, default))
    if certificates.HasField("ca_validity"):
        validity = timedelta(seconds=certificates.ca_validity.seconds)
        return KeySettings(key_type=settings.key_type, authority_validity=validity)
    return settings
