"""Secrets for the suite's bundles: a cluster's CA, a token, and whatever a provisioner declares.

They are made anew for every run, so that a provisioner cannot have seen them, and none of them opens anything.
"""

import base64
import hashlib
import secrets
import string
from datetime import UTC, datetime, timedelta
from functools import cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID

from slipway.v1alpha1 import secret_pb2 as secretpb

CLUSTER_CA, BOOTSTRAP_TOKEN = "slipway.dev/cluster-ca", "slipway.dev/bootstrap-token"  # names
_ALPHABET = string.ascii_lowercase + string.digits
_AUTHORITIES = (secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, secretpb.SECRET_KIND_CLIENT_CERTIFICATE)


def canary() -> str:
    """Give a random word that occurs nowhere else."""
    return "canary" + "".join(secrets.choice(_ALPHABET) for _ in range(14))


@cache
def token(name: str) -> bytes:
    """Give a bootstrap token, one for each name."""
    del name
    left, right = ("".join(secrets.choice(_ALPHABET) for _ in range(length)) for length in (6, 16))
    return f"{left}.{right}".encode()


@cache
def pair(name: str, *, edwards: bool = False) -> tuple[bytes, bytes]:
    """Give a self-signed authority and its key (PEM), one for each name."""
    key = ed25519.Ed25519PrivateKey.generate() if edwards else ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name.rpartition("/")[2][:64])])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=3650))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, None if edwards else hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return certificate.public_bytes(Encoding.PEM), private


def ca_hash(name: str) -> str:
    """Give the hash of an authority's public key, as kubeadm and others write it."""
    public = x509.load_pem_x509_certificate(pair(name)[0]).public_key()
    encoded = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"sha256:{hashlib.sha256(encoded).hexdigest()}"


def values(declaration: secretpb.SecretDeclaration) -> dict[str, bytes]:
    """Give all keys of a declared secret."""
    kind, name = declaration.kind, declaration.name
    if kind == secretpb.SECRET_KIND_BOOTSTRAP_TOKEN:
        return {"token": token(name)}
    if kind in (secretpb.SECRET_KIND_RANDOM_BASE64, secretpb.SECRET_KIND_RANDOM_BASE64_URL):
        encode = base64.b64encode if kind == secretpb.SECRET_KIND_RANDOM_BASE64 else base64.urlsafe_b64encode
        return {"value": encode(_random(name))}
    if kind == secretpb.SECRET_KIND_KEY_PAIR:
        _, key = pair(name)
        loaded = x509.load_pem_x509_certificate(pair(name)[0]).public_key()
        return {"tls.crt": loaded.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "tls.key": key}
    certificate, key = pair(name, edwards=kind not in _AUTHORITIES)
    return {"tls.crt": certificate, "tls.key": key}


@cache
def _random(name: str) -> bytes:
    del name
    return secrets.token_bytes(32)


def for_role(declaration: secretpb.SecretDeclaration, role: str) -> dict[str, bytes]:
    """Give the keys of a declared secret that a role gets."""
    if role in declaration.full_roles:
        return values(declaration)
    if role in declaration.public_roles:
        return {key: value for key, value in values(declaration).items() if key == "tls.crt"}
    return {}
