"""Where random bytes, private keys and texts come from, as a seam.

Dry runs and tests put something else in its place.
"""

import base64
import re
import secrets
import string
from enum import Enum
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

RSA_EXPONENT = 65537

BOOTSTRAP_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")
"""The form of a bootstrap token: id, dot, secret."""

_ALPHABET = string.ascii_lowercase + string.digits
_UNBIASED = 256 - 256 % len(_ALPHABET)
_VALUE_BYTES = 32


class KeyType(Enum):
    """The kinds of private keys that are generated."""

    RSA_2048 = "RSA-2048"
    RSA_3072 = "RSA-3072"
    RSA_4096 = "RSA-4096"
    ECDSA_P256 = "ECDSA-P256"
    ECDSA_P384 = "ECDSA-P384"
    ED25519 = "Ed25519"


RSA_BITS = {KeyType.RSA_2048: 2048, KeyType.RSA_3072: 3072, KeyType.RSA_4096: 4096}


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


def bootstrap_token(entropy: Entropy) -> bytes:
    """Make a bootstrap token of 6 and 16 characters, each drawn without bias."""
    characters = random_text(entropy, 22)
    return f"{characters[:6]}.{characters[6:]}".encode()


def random_text(entropy: Entropy, length: int) -> str:
    """Draw letters and digits without bias."""
    characters: list[str] = []
    while len(characters) < length:
        drawn = entropy.random_bytes(length)
        characters += [_ALPHABET[byte % len(_ALPHABET)] for byte in drawn if byte < _UNBIASED]
    return "".join(characters[:length])


def random_base64(entropy: Entropy) -> bytes:
    """Encode 32 random bytes in standard base64."""
    return base64.b64encode(entropy.random_bytes(_VALUE_BYTES))


def random_base64_url(entropy: Entropy) -> bytes:
    """Encode 32 random bytes in URL-safe base64."""
    return base64.urlsafe_b64encode(entropy.random_bytes(_VALUE_BYTES))
