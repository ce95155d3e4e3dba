"""Signed documents: DSSE envelopes with Ed25519 signatures, and the JSON in them.

The envelope is the Dead Simple Signing Envelope (secure-systems-lab/dsse, protocol 1.0.2), which cosign and in-toto
read as well. It signs the type together with the payload and needs no canonical JSON. The cryptography is that of
`cryptography`; of our own are only the bytes that DSSE says are signed.

What is signed must have one meaning: JSON in which a member stands twice is read differently by different programs, so
it is refused.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key

from slipway.bootstrapper.artifacts.refusal import ArtifactReason, ArtifactRefused

MAX_BYTES = 1 << 20
"""Most bytes of an envelope."""

MAX_SIGNATURES = 16
"""Most signatures of an envelope: two during a rotation of keys, and room."""

_PEM_END = b"-----END PUBLIC KEY-----"


def key_id(key: Ed25519PublicKey) -> str:
    """Give the id of a key: SHA-256 of its SubjectPublicKeyInfo, in hexadecimal digits."""
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def sign(payload: bytes, payload_type: str, keys: Sequence[Ed25519PrivateKey]) -> bytes:
    """Give the envelope of a payload, signed by each key."""
    message = _signed_bytes(payload, payload_type)
    envelope = {
        "payloadType": payload_type,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [
            {"keyid": key_id(key.public_key()), "sig": base64.b64encode(key.sign(message)).decode()} for key in keys
        ],
    }
    return json.dumps(envelope, indent=2).encode() + b"\n"


def read_envelope(path: Path) -> bytes:
    """Return the bytes of a file; of one that is too large for an envelope no more than it takes to refuse it.

    The file is not trusted yet: a mirror may have put a device, a pipe or a file of any size in its place.

    Raises:
        ArtifactRefused: MALFORMED, it is no regular file.
        OSError: it cannot be read.
    """
    if not path.is_file():
        raise ArtifactRefused(ArtifactReason.MALFORMED, "the envelope must be a regular file")
    with path.open("rb") as file:
        return file.read(MAX_BYTES + 1)


def open_envelope(envelope: bytes, payload_type: str, keys: Sequence[Ed25519PublicKey]) -> bytes:
    """Give the payload of an envelope that at least one of the keys has signed.

    Raises:
        ArtifactRefused: MALFORMED, UNSIGNED, UNKNOWN_KEY or WRONG_SIGNATURE.
    """
    document = _parse(envelope)
    if document.get("payloadType") != payload_type:
        raise ArtifactRefused(ArtifactReason.MALFORMED, f"the envelope must be of type {payload_type}")
    payload = _decode(document.get("payload"))
    signatures = document.get("signatures")
    if not isinstance(signatures, list) or len(signatures) > MAX_SIGNATURES:
        raise ArtifactRefused(ArtifactReason.MALFORMED, f"signatures must be a list of at most {MAX_SIGNATURES}")
    if not signatures:
        raise ArtifactRefused(ArtifactReason.UNSIGNED, "the envelope has no signature")
    message = _signed_bytes(payload, payload_type)
    by_id = {key_id(key): key for key in keys}
    is_known = False
    for signature in signatures:
        candidates = _candidates(signature, by_id)
        is_known = is_known or bool(candidates)
        if any(_is_signed(key, _decode(signature.get("sig")), message) for key in candidates):
            return payload
    if is_known:
        raise ArtifactRefused(ArtifactReason.WRONG_SIGNATURE, "the signature of a known key does not match the content")
    raise ArtifactRefused(ArtifactReason.UNKNOWN_KEY, "no signature is by a key that is trusted here")


def read_public_keys(path: Path) -> list[Ed25519PublicKey]:
    """Give the Ed25519 public keys of a PEM file, one or several.

    Raises:
        OSError: it cannot be read.
        ValueError: it holds anything else, or nothing; the text names the file.
    """
    data = path.read_bytes()
    *blocks, rest = data.split(_PEM_END)
    keys = [_public_key(block + _PEM_END + b"\n", path) for block in blocks]
    if not keys or rest.strip():
        raise ValueError(f"{path}: must hold PEM public keys (BEGIN PUBLIC KEY), and nothing else")
    return keys


def _public_key(block: bytes, path: Path) -> Ed25519PublicKey:
    try:
        key = load_pem_public_key(block.strip() + b"\n")
    except (ValueError, UnsupportedAlgorithm):
        raise ValueError(f"{path}: a block is not a public key in PEM") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"{path}: every key must be an Ed25519 key")  # noqa: TRY004  # the file is wrong, not a type
    return key


def _signed_bytes(payload: bytes, payload_type: str) -> bytes:
    """Give what is signed: DSSE's pre-authentication encoding."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def _parse(envelope: bytes) -> Mapping[str, Any]:
    if len(envelope) > MAX_BYTES:
        raise ArtifactRefused(ArtifactReason.MALFORMED, f"the envelope must have at most {MAX_BYTES} bytes")
    try:
        document = load_unique(envelope)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ArtifactRefused(ArtifactReason.MALFORMED, "the envelope must be a JSON object, with no member twice")
    return document


def _decode(text: object) -> bytes:
    try:
        if isinstance(text, str):
            return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        pass
    raise ArtifactRefused(ArtifactReason.MALFORMED, "payload and signatures must be in standard base64")


def _candidates(signature: object, by_id: Mapping[str, Ed25519PublicKey]) -> list[Ed25519PublicKey]:
    """Give the keys that may have made a signature: all of them where there is no id, which is only a hint."""
    if not isinstance(signature, dict):
        raise ArtifactRefused(ArtifactReason.MALFORMED, "each signature must be an object")
    identity = signature.get("keyid") or ""
    return list(_keys_of(identity, by_id))


def _keys_of(identity: object, by_id: Mapping[str, Ed25519PublicKey]) -> Iterator[Ed25519PublicKey]:
    if not identity:
        yield from by_id.values()
    elif isinstance(identity, str) and identity in by_id:
        yield by_id[identity]


def _is_signed(key: Ed25519PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        key.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def load_unique(text: bytes) -> Any:
    """Return a JSON document, each of whose objects has each member once.

    Raises:
        ValueError: it is not JSON in UTF-8, or a member stands twice.
        RecursionError: it is too deep.
    """
    return json.loads(text.decode("utf-8"), object_pairs_hook=_once)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(members)
    if len(made) < len(members):
        raise ValueError("a member stands twice")
    return made
