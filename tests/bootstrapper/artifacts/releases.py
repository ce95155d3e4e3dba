"""Signed releases for tests."""

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from slipway.bootstrapper.artifacts.release import Release
from slipway.bootstrapper.artifacts.trust import Trust
from slipway.bootstrapper.artifacts.version import Version
from tools.release import folder

NOW = datetime(2026, 6, 1, tzinfo=UTC)
EXPIRES = datetime(2027, 1, 1, tzinfo=UTC)
PROGRAM = b"\x7fELF a program"
DIGEST = hashlib.sha256(PROGRAM).hexdigest()


def key() -> Ed25519PrivateKey:
    """Give a new key."""
    return Ed25519PrivateKey.generate()


def public_file(path: Path, *keys: Ed25519PrivateKey) -> Path:
    """Write the public keys to a PEM file."""
    path.write_bytes(
        b"".join(one.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) for one in keys)
    )
    return path


def trust(*keys: Ed25519PrivateKey, minimum: str | None = None, now: datetime = NOW) -> Trust:
    """Trust keys."""
    least = Version.parse(minimum) if minimum else None
    return Trust(tuple(one.public_key() for one in keys), least, lambda: now)


def release_folder(
    root: Path, *keys: Ed25519PrivateKey, version: str = "1.2.0", program: bytes = PROGRAM
) -> tuple[Release, Path]:
    """Write a release folder with one small program for two platforms; give the release and its manifest."""
    source = root.with_suffix(".program")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_bytes(program)
    programs = {"linux/amd64": source, "linux/arm64": source}
    release = folder.write(root, programs, keys, expires=EXPIRES, version=version)
    return release, root / release.manifest_path
