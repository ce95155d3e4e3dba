"""Certificates as kubeadm and Cluster API make them: self-signed authorities, and clients that they sign.

Sources: util/secret/certificates.go of Cluster API, util/cert of Kubernetes' client-go.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from slipway.bootstrapper.credentials.entropy import Entropy, PrivateKey

BACKDATED = timedelta(minutes=5)
"""Certificates are valid since a little before now, for machines whose clock is behind."""

_SERIAL_BYTES = 8


def self_signed_authority(
    key: PrivateKey, *, subject: x509.Name, now: datetime, validity: timedelta, entropy: Entropy
) -> x509.Certificate:
    """Make the certificate of an authority that signs leaves only."""
    builder = (
        _builder(subject=subject, issuer=subject, now=now, validity=validity, entropy=entropy)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(authority=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    return _sign(builder, key)


def client_certificate(  # noqa: PLR0913 - a certificate has that many independent facts
    key: PrivateKey,
    *,
    subject: x509.Name,
    issuer: x509.Certificate,
    issuer_key: PrivateKey,
    now: datetime,
    validity: timedelta,
    entropy: Entropy,
) -> x509.Certificate:
    """Make a certificate for a client; it never outlives its authority."""
    lifetime = min(validity, issuer.not_valid_after_utc - now)
    builder = (
        _builder(subject=subject, issuer=issuer.subject, now=now, validity=lifetime, entropy=entropy)
        .public_key(key.public_key())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(authority=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
    )
    return _sign(builder, issuer_key)


def distinguished_name(common_name: str, organizations: Sequence[str] = ()) -> x509.Name:
    """Make a subject of organizations and a common name."""
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organizations]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    *, subject: x509.Name, issuer: x509.Name, now: datetime, validity: timedelta, entropy: Entropy
) -> x509.CertificateBuilder:
    serial = int.from_bytes(entropy.random_bytes(_SERIAL_BYTES)) >> 1
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .serial_number(serial or 1)
        .not_valid_before(now - BACKDATED)
        .not_valid_after(now + validity)
    )


def _usage(*, authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=True,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=authority,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )


def _sign(builder: x509.CertificateBuilder, key: PrivateKey) -> x509.Certificate:
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return builder.sign(key, None)
    is_p384 = isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP384R1)
    algorithm = hashes.SHA384() if is_p384 else hashes.SHA256()
    # Deterministic signatures (RFC 6979) make a placeholder the same in every run, and need no randomness.
    deterministic = True if isinstance(key, ec.EllipticCurvePrivateKey) else None
    return builder.sign(key, algorithm, ecdsa_deterministic=deterministic)
