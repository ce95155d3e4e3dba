"""Keys and certificates as PEM, in the forms that kubeadm and Cluster API write and that Go reads."""

import hashlib

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from slipway.bootstrapper.credentials.entropy import PrivateKey


def private_key_pem(key: PrivateKey) -> bytes:
    """Encode a private key: PKCS #1 for RSA, SEC 1 for ECDSA, PKCS #8 for Ed25519."""
    is_ed25519 = isinstance(key, ed25519.Ed25519PrivateKey)
    form = PrivateFormat.PKCS8 if is_ed25519 else PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def public_key_pem(key: PublicKeyTypes) -> bytes:
    """Encode a public key as PKIX."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def certificate_pem(certificate: x509.Certificate) -> bytes:
    """Encode a certificate."""
    return certificate.public_bytes(Encoding.PEM)


def public_key_hashes(certificates_pem: bytes) -> list[str]:
    """Give "sha256:<hex>" of every certificate's public key, as kubeadm's discovery compares it.

    Raises:
        ValueError: there is no certificate in it.
    """
    hashes = []
    for certificate in x509.load_pem_x509_certificates(certificates_pem):
        spki = certificate.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        hashes.append(f"sha256:{hashlib.sha256(spki).hexdigest()}")
    return hashes
