"""The keys that releases are signed with."""

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)


def generate(path: Path) -> Path:
    """Write a new private key (0600) and, with the suffix .pub, its public key; give the latter's path.

    Raises:
        FileExistsError: there is a key already.
    """
    key = Ed25519PrivateKey.generate()
    public = path.with_suffix(".pub")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return public


def read(path: Path) -> Ed25519PrivateKey:
    """Read a private key.

    Raises:
        ValueError: it is not an Ed25519 key in PEM without a passphrase.
    """
    key = load_pem_private_key(path.read_bytes(), password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path}: must be an Ed25519 private key")  # noqa: TRY004  # the file is wrong, not a type
    return key
