"""Certificates for tests: an authority that fills a directory as cert-manager would."""

import datetime as dt
import ipaddress
from collections.abc import Sequence
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_DAY = dt.timedelta(days=1)


class Authority:
    """A certificate authority; issues certificates for this machine with the SPIFFE ids that are asked for."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test authority")])
        basic = x509.BasicConstraints(ca=True, path_length=None)
        builder = _builder(self._name, self._key, self._name).add_extension(basic, critical=True)
        self.certificate = builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def fill(
        self, directory: Path, *, uris: Sequence[str] = (), hosts: Sequence[str] = (), address: str = "127.0.0.1"
    ) -> Path:
        """Write tls.crt, tls.key and ca.crt; give the directory."""
        directory.mkdir(parents=True, exist_ok=True)
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName(
            [
                *(x509.UniformResourceIdentifier(uri) for uri in uris),
                *(x509.DNSName(host) for host in ("localhost", *hosts)),
                x509.IPAddress(ipaddress.ip_address(address)),
            ]
        )
        builder = _builder(x509.Name([]), key, self._name).add_extension(names, critical=True)
        certificate = builder.sign(self._key, hashes.SHA256())
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (directory / "tls.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        (directory / "tls.key").write_bytes(private)
        (directory / "ca.crt").write_bytes(self.certificate)
        return directory

    def fill_provisioner(self, directory: Path, *, name: str, trust_domain: str = "slipway") -> Path:
        """Write the files of a provisioner: its SPIFFE id and the same as a DNS name."""
        return self.fill(
            directory,
            uris=[f"spiffe://{trust_domain}/provisioner/{name}"],
            hosts=[f"{name}.provisioner.{trust_domain}"],
        )


def _builder(subject: x509.Name, key: ec.EllipticCurvePrivateKey, issuer: x509.Name) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
    )
