"""Random text: bootstrap tokens, and the base64 values that provisioners declare."""

import base64
import re
import string

from slipway.bootstrapper.credentials.entropy import Entropy

BOOTSTRAP_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")
"""The form of a bootstrap token: id, dot, secret."""

_ALPHABET = string.ascii_lowercase + string.digits
_UNBIASED = 256 - 256 % len(_ALPHABET)
_VALUE_BYTES = 32


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
