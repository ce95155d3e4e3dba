"""Certificates of an environment: one authority for its API server, its webhooks and its users.

ECDSA keys only: an RSA key takes longer to make than an API server to start.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

_DAY = dt.timedelta(days=1)
_VALID = dt.timedelta(days=30)


@dataclass(frozen=True, slots=True, repr=False)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: bytes
    key: bytes

    def write(self, directory: Path) -> Path:
        """Write ``tls.crt`` and ``tls.key``; give the directory."""
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "tls.crt").write_bytes(self.certificate)
        write_key(directory / "tls.key", self.key)
        return directory


class Authority:
    """Signs for servers and clients."""

    def __init__(self, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key
        self._name = certificate.subject
        self.pair = Pair(certificate.public_bytes(serialization.Encoding.PEM), pem(key))

    @classmethod
    def create(cls, name: str) -> Self:
        """A new one."""
        key, subject = ec.generate_private_key(ec.SECP256R1()), _subject(name)
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, key_encipherment=False, key_agreement=False,
            content_commitment=False, data_encipherment=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        certificate = (
            _builder(subject, subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .sign(key, hashes.SHA256())
        )
        return cls(certificate, key)

    @classmethod
    def load(cls, certificate: bytes, key: bytes) -> Self:
        """The one with these PEM documents, which ``create`` has made."""
        loaded = serialization.load_pem_private_key(key, password=None)
        if not isinstance(loaded, ec.EllipticCurvePrivateKey):
            raise TypeError("the authority's key is not an elliptic curve key")
        return cls(x509.load_pem_x509_certificate(certificate), loaded)

    @property
    def certificate(self) -> bytes:
        """The authority's own certificate, PEM."""
        return self.pair.certificate

    def server(self, *names: str) -> Pair:
        """A server's certificate for DNS names and IP addresses."""
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
        return self._issue(_subject(names[0]), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def client(self, user: str, *, groups: Sequence[str] = ()) -> Pair:
        """A user's certificate, as the API server reads it: common name and organisations."""
        return self._issue(_subject(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self, subject: x509.Name, usage: x509.ObjectIdentifier, alternatives: x509.SubjectAlternativeName | None = None
    ) -> Pair:
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = (
            _builder(subject, self._name, key.public_key())
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(issuer, critical=False)
        )
        if alternatives is not None:
            builder = builder.add_extension(alternatives, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return Pair(certificate.public_bytes(serialization.Encoding.PEM), pem(key))


def pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """A key in the form that Kubernetes' own programs write."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def write_key(path: Path, key: bytes) -> Path:
    """Write a key for its owner's eyes only; who reads it at the same time has all of this one or of the one before."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as beside:
        beside.write(key)
    return Path(beside.name).replace(path)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _VALID)
    )


def _subject(name: str, organisations: Sequence[str] = ()) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, organisation) for organisation in organisations),
            x509.NameAttribute(x509.NameOID.COMMON_NAME, name),
        ]
    )


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
