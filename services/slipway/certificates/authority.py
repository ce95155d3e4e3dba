"""A certificate authority for the services, and a certificate for each of them.

A process proves itself by a SPIFFE id in its certificate. That of a server also carries the DNS name of its role, which
gRPC clients, since they compare host names only, demand of it.
"""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import click
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from slipway.contract.roles import BOOTSTRAPPER, REGISTRY, REPORTS, provisioner_host, service_host

PROVISIONER = "provisioner"
_SERVICES = {REGISTRY: REGISTRY, BOOTSTRAPPER: BOOTSTRAPPER, REPORTS: REPORTS, "controller": BOOTSTRAPPER}
"""What a process of a role serves; the controller serves what a bootstrapper does."""
_SKEW = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, repr=False)
class Issued:
    """A certificate and its key, PEM."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Subject:
    """Who gets a certificate.

    Attributes:
        role: "provisioner", "registry", "bootstrapper", "client" ...
        name: name of the process.
        hosts: names and addresses under which it is reached.
    """

    role: str
    name: str
    hosts: tuple[str, ...] = ()


class Authority:
    """Signs certificates. Its own key never leaves the object unless asked for."""

    def __init__(self, *, trust_domain: str, now: datetime, validity: timedelta, kept: Issued | None = None) -> None:
        """Make a new authority, or go on with one that was kept; what it signs is valid from `now` on, for `validity`.

        Nothing that it signs outlives it.

        Raises:
            ValueError: what was kept cannot be read, is no authority, or its key is another one's.
        """
        self.trust_domain = trust_domain
        self._now, self._validity = now, validity
        if kept is None:
            self._key = ec.generate_private_key(ec.SECP256R1())
            self._certificate = self._own_certificate()
        else:
            self._key, self._certificate = _read(kept)
        self._name = self._certificate.subject
        # Every authority of a trust domain has the same name: only these ids tell an old one from its successor.
        subject_key = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        self._authority_key = x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(subject_key)

    @property
    def pair(self) -> Issued:
        """Its certificate and its key, to be kept where nobody else reads."""
        return Issued(self.certificate, _pem(self._key))

    @property
    def expires(self) -> datetime:
        """When its certificate ends."""
        return self._certificate.not_valid_after_utc

    @property
    def begins(self) -> datetime:
        """When it was made."""
        return self._certificate.not_valid_before_utc + _SKEW

    @property
    def certificate(self) -> bytes:
        """The authority's certificate, PEM."""
        return self._certificate.public_bytes(Encoding.PEM)

    def issue(self, subject: Subject) -> Issued:
        """Make a key and a certificate for server and client use."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject.name)])
        uses = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
        certificate = (
            self._builder(
                name, key.public_key(), issuer=self._name, until=min(self._now + self._validity, self.expires)
            )
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names(subject, trust_domain=self.trust_domain)), critical=False)
            .add_extension(uses, critical=False)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(self._authority_key, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return Issued(certificate.public_bytes(Encoding.PEM), _pem(key))

    def _own_certificate(self) -> x509.Certificate:
        usage = x509.KeyUsage(
            digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
            data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
        )  # fmt: skip
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{self.trust_domain} service authority")])
        subject_key = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        return (
            self._builder(name, self._key.public_key(), issuer=name, until=self._now + self._validity)
            .add_extension(subject_key, critical=False)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(usage, critical=True)
            .sign(self._key, hashes.SHA256())
        )

    def _builder(
        self, name: x509.Name, key: ec.EllipticCurvePublicKey, *, issuer: x509.Name, until: datetime
    ) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(issuer)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(self._now - _SKEW)
            .not_valid_after(until)
        )


def names(subject: Subject, *, trust_domain: str) -> Sequence[x509.GeneralName]:
    """Give the names that the certificate of a subject carries."""
    names: list[x509.GeneralName] = [
        x509.UniformResourceIdentifier(f"spiffe://{trust_domain}/{subject.role}/{subject.name}")
    ]
    if subject.role == PROVISIONER:
        names.append(x509.DNSName(provisioner_host(trust_domain=trust_domain, name=subject.name)))
    elif subject.role in _SERVICES:
        names.append(x509.DNSName(service_host(trust_domain=trust_domain, role=_SERVICES[subject.role])))
    return names + [_host(host) for host in subject.hosts]


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _read(kept: Issued) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
    key = load_pem_private_key(kept.key, None)
    certificate = x509.load_pem_x509_certificate(kept.certificate)
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise ValueError("the key is not that of the authority's certificate")
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        raise ValueError("the certificate is no authority's") from None
    if not constraints.ca:
        raise ValueError("the certificate is no authority's")
    return key, certificate


def read_subject(text: str) -> Subject:
    """Read a subject as a person writes it: ROLE/NAME, with names and addresses after a "=".

    For example: "registry/registry=registry,127.0.0.1".

    Raises:
        click.UsageError: it has another form.
    """
    who, _, hosts = text.partition("=")
    role, separator, name = who.partition("/")
    if not separator or not role or not name:
        raise click.UsageError("--subject takes ROLE/NAME or ROLE/NAME=HOST,HOST")
    return Subject(role, name, tuple(host for host in hosts.split(",") if host))
