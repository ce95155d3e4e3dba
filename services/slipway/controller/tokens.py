"""Bootstrap tokens that need not be remembered: derived from a seed of the cluster, the config and a counter.

A controller that was killed between any two writes comes to the same token again, so that the machine's user data and
the token in its cluster always go together, and no token stands in a spec.
"""

import base64
import hashlib
import hmac
import string
from collections.abc import Iterator
from itertools import islice

SEED_BYTES = 32
_ALPHABET = string.ascii_lowercase + string.digits
_UNBIASED = 256 - 256 % len(_ALPHABET)
_ID, _SECRET = 6, 16
_TICKET_BYTES = 32


def derived_token(seed: bytes, *, config_uid: str, rotation: int) -> str:
    """Give the token of a config: "[a-z0-9]{6}.[a-z0-9]{16}"."""
    drawn = _bytes(seed, f"bootstrap-token\0{config_uid}\0{rotation}")
    characters = (_ALPHABET[byte % len(_ALPHABET)] for byte in drawn if byte < _UNBIASED)
    text = "".join(islice(characters, _ID + _SECRET))
    return f"{text[:_ID]}.{text[_ID:]}"


def derived_ticket(seed: bytes, *, config_uid: str, rotation: int, digest: str) -> str:
    """Give the ticket for the payload of a config that has a SHA-256: 43 characters of base64 for URLs."""
    drawn = bytes(islice(_bytes(seed, f"payload-ticket\0{config_uid}\0{rotation}\0{digest}"), _TICKET_BYTES))
    return base64.urlsafe_b64encode(drawn).decode().rstrip("=")


def _bytes(seed: bytes, purpose: str) -> Iterator[int]:
    """Give the endless stream of bytes that a seed and a purpose determine."""
    block = 0
    while True:
        yield from hmac.new(seed, f"{purpose}\0{block}".encode(), hashlib.sha256).digest()
        block += 1
