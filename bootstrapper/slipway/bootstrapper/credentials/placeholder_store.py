"""Secrets for questions that must create nothing: explain, validate and diff.

They are public, fixed keys and bytes, so that there is material of the right size. Nobody must ever be tempted to use
them: the keys are small numbers that this file states, known to everybody.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from slipway.bootstrapper.credentials.entropy import RSA_BITS, RSA_EXPONENT, KeyType, PrivateKey
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings, sorted_secrets
from slipway.v1alpha1 import secret_pb2 as secretpb

# Two primes 3 * 2^(bits/2 - 2) + offset for each size.
_RSA_PRIME_OFFSETS = {2048: (1037, 1697), 3072: (1837, 2617), 4096: (439, 469)}
_EC_SCALAR = 2

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class _PlaceholderEntropy:
    """The same bytes and keys at every call."""

    def random_bytes(self, count: int) -> bytes:
        """Give `count` bytes that are obviously not random."""
        return b"\x01" * count

    def private_key(self, key_type: KeyType) -> PrivateKey:
        """Give the one public key of this type."""
        if key_type is KeyType.ED25519:
            return ed25519.Ed25519PrivateKey.from_private_bytes(self.random_bytes(32))
        if key_type is KeyType.ECDSA_P256:
            return ec.derive_private_key(_EC_SCALAR, ec.SECP256R1())
        if key_type is KeyType.ECDSA_P384:
            return ec.derive_private_key(_EC_SCALAR, ec.SECP384R1())
        return _rsa_key(RSA_BITS[key_type])


def _rsa_key(bits: int) -> rsa.RSAPrivateKey:
    start = 3 << (bits // 2 - 2)
    q, p = (start + offset for offset in _RSA_PRIME_OFFSETS[bits])
    d = pow(RSA_EXPONENT, -1, (p - 1) * (q - 1))
    return rsa.RSAPrivateNumbers(
        p=p,
        q=q,
        d=d,
        dmp1=rsa.rsa_crt_dmp1(d, p),
        dmq1=rsa.rsa_crt_dmq1(d, q),
        iqmp=rsa.rsa_crt_iqmp(p, q),
        public_numbers=rsa.RSAPublicNumbers(RSA_EXPONENT, p * q),
    ).private_key(unsafe_skip_rsa_key_validation=True)


class PlaceholderStore:
    """Gives public placeholders of the size and form that the real secrets would have; they never expire."""

    def __init__(self) -> None:
        """Make the store."""
        self._factory = SecretFactory(entropy=_PlaceholderEntropy(), clock=lambda: _ANY_DAY)

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give a placeholder for every declared secret; the same ones at every call, for every cluster."""
        del cluster
        secrets = self._factory.make_missing(list(declarations), existing={}, settings=settings)
        for secret in secrets:
            secret.ClearField("expire_time")
        return Credentials(secrets=sorted_secrets(secrets), placeholder=True)
