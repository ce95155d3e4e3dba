"""Secrets for questions that must create nothing: explain, validate and diff.

They are public, fixed keys and bytes, so that there is material of the right size, which compresses no better than the
real one. Nobody must ever be tempted to use them: they are made of the secrets' names, by a rule that this file states.
"""

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from slipway.bootstrapper.credentials.entropy import RSA_BITS, RSA_EXPONENT, KeyType, PrivateKey
from slipway.bootstrapper.credentials.generation import SecretFactory
from slipway.bootstrapper.credentials.store import ClusterKey, Credentials, KeySettings, sorted_secrets
from slipway.v1alpha1 import secret_pb2 as secretpb

# Primes for each size: number N is _bytes("a public prime of SIZE N") with its two highest bits and its lowest one set,
# plus the offset. Each key has two of its own.
_RSA_PRIME_OFFSETS = {
    2048: (472, 210, 698, 338, 374, 56, 522, 132, 812, 326, 630, 1028),
    3072: (476, 1012, 644, 224, 466, 434, 216, 1686, 566, 746, 1162, 56),
    4096: (2274, 836, 994, 870, 1342, 1296, 164, 3564, 1164, 1516, 390, 624),
}
_KEYS = 6
_SALT = 14
"""With it, the keys that a cluster's secrets have are different ones."""

_ANY_DAY = datetime(2000, 1, 1, tzinfo=UTC)


class _PlaceholderEntropy:
    """The same bytes and keys for each secret at every call, others for each secret."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._count = 0

    def random_bytes(self, count: int) -> bytes:
        """Give `count` bytes that anybody can compute."""
        self._count += 1
        return _bytes(f"{self._name} {self._count}", count)

    def private_key(self, key_type: KeyType) -> PrivateKey:
        """Give a public key of this type."""
        if key_type is KeyType.ED25519:
            return ed25519.Ed25519PrivateKey.from_private_bytes(self.random_bytes(32))
        if key_type is KeyType.ECDSA_P256:
            return ec.derive_private_key(int.from_bytes(self.random_bytes(32), "big") >> 1, ec.SECP256R1())
        if key_type is KeyType.ECDSA_P384:
            return ec.derive_private_key(int.from_bytes(self.random_bytes(48), "big") >> 1, ec.SECP384R1())
        return _rsa_key(RSA_BITS[key_type], _bytes(f"{_SALT} {self._name}", 1)[0] % _KEYS)


def _bytes(text: str, count: int) -> bytes:
    blocks = (sha256(f"{text} {number}".encode()).digest() for number in range(-(-count // sha256().digest_size)))
    return b"".join(blocks)[:count]


@cache
def _rsa_key(bits: int, number: int) -> rsa.RSAPrivateKey:
    q, p = (_prime(bits, index) for index in (2 * number, 2 * number + 1))
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


def _prime(bits: int, index: int) -> int:
    start = int.from_bytes(_bytes(f"a public prime of {bits} {index}", bits // 16), "big")
    return (start | 3 << (bits // 2 - 2) | 1) + _RSA_PRIME_OFFSETS[bits][index]


class PlaceholderStore:
    """Gives public placeholders of the size and form that the real secrets would have; they never expire."""

    def ensure(
        self, cluster: ClusterKey, declarations: Iterable[secretpb.SecretDeclaration], settings: KeySettings
    ) -> Credentials:
        """Give a placeholder for every declared secret; the same ones at every call, for every cluster."""
        del cluster
        known: dict[str, dict[str, bytes]] = {}
        secrets: list[secretpb.Secret] = []
        # Authorities come before what they sign.
        for declaration in sorted(declarations, key=lambda declared: bool(declared.issuer)):
            factory = SecretFactory(entropy=_PlaceholderEntropy(declaration.name), clock=lambda: _ANY_DAY)
            made = factory.make_missing([declaration], existing=known, settings=settings)
            known.setdefault(declaration.name, {}).update((secret.key, secret.value) for secret in made)
            secrets += made
        for secret in secrets:
            secret.ClearField("expire_time")
        return Credentials(secrets=sorted_secrets(secrets), placeholder=True)
