"""Where random bytes and private keys come from, as a seam.

Dry runs and tests put something else in its place.
"""

import secrets
from enum import Enum
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


class KeyType(Enum):
    """The kinds of private keys that are generated."""

    RSA_2048 = "RSA-2048"
    RSA_3072 = "RSA-3072"
    RSA_4096 = "RSA-4096"
    ECDSA_P256 = "ECDSA-P256"
    ECDSA_P384 = "ECDSA-P384"
    ED25519 = "Ed25519"


RSA_BITS = {KeyType.RSA_2048: 2048, KeyType.RSA_3072: 3072, KeyType.RSA_4096: 4096}
RSA_EXPONENT = 65537


class Entropy(Protocol):
    """A source of randomness."""

    def random_bytes(self, count: int) -> bytes:
        """Give `count` random bytes."""
        ...

    def private_key(self, key_type: KeyType) -> PrivateKey:
        """Give a new private key."""
        ...


class SystemEntropy:
    """The randomness of the operating system; the only source for secrets that are used."""

    def random_bytes(self, count: int) -> bytes:
        """Give `count` random bytes."""
        return secrets.token_bytes(count)

    def private_key(self, key_type: KeyType) -> PrivateKey:
        """Give a new private key."""
        if key_type is KeyType.ED25519:
            return ed25519.Ed25519PrivateKey.generate()
        if key_type is KeyType.ECDSA_P256:
            return ec.generate_private_key(ec.SECP256R1())
        if key_type is KeyType.ECDSA_P384:
            return ec.generate_private_key(ec.SECP384R1())
        return rsa.generate_private_key(RSA_EXPONENT, RSA_BITS[key_type])
