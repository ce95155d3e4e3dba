"""Certificates: those that the user of the suite gives, those that the suite makes, and those that must be refused."""

import socket
import ssl
import warnings
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import NamedTemporaryFile

import grpc
from cryptography import x509

from slipway.certificates.authority import Authority, Subject

LOOPBACK = ("localhost", "127.0.0.1", "::1")
NAMES = ("tls.crt", "tls.key", "ca.crt")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a client shows, whom it trusts, and the name that it demands of the other side (PEM).

    Attributes:
        authority: certificate of the other side's authority.
        chain: own certificate; empty to show none.
        key: own key.
        server_name: name that the other side's certificate must have; empty for that of the endpoint.
    """

    authority: bytes
    chain: bytes = b""
    key: bytes = field(default=b"", repr=False)
    server_name: str = ""

    @classmethod
    def read(cls, folder: Path, *, server_name: str = "") -> "Credentials":
        """Read tls.crt, tls.key and ca.crt.

        Raises:
            OSError: a file cannot be read.
        """
        chain, key, authority = ((folder / name).read_bytes() for name in NAMES)
        return cls(authority=authority, chain=chain, key=key, server_name=server_name)

    def named(self, server_name: str) -> "Credentials":
        """Give the same, demanding another name."""
        return Credentials(self.authority, self.chain, self.key, server_name)

    def channel(self) -> grpc.ChannelCredentials:
        """Give them as gRPC takes them."""
        return grpc.ssl_channel_credentials(
            root_certificates=self.authority,
            private_key=self.key or None,
            certificate_chain=self.chain or None,
        )

    def server(self) -> grpc.ServerCredentials:
        """Give them for a server that demands certificates."""
        return grpc.ssl_server_credentials(
            [(self.key, self.chain)], root_certificates=self.authority, require_client_auth=True
        )

    def hosts(self) -> list[str]:
        """Give the names and addresses of the own certificate."""
        return _hosts(x509.load_pem_x509_certificate(self.chain))


@dataclass(frozen=True, slots=True)
class Shown:
    """What a server's certificate says: its names, its SPIFFE ids, and the version of TLS that was agreed on."""

    names: tuple[str, ...]
    spiffe_ids: tuple[str, ...]
    serial: int
    version: str


class OwnAuthority:
    """An authority of the suite's own, for a subject that it starts itself."""

    def __init__(self, *, trust_domain: str) -> None:
        """Make it."""
        self._authority = Authority(trust_domain=trust_domain, now=datetime.now(UTC), validity=timedelta(days=1))

    def issue(self, *, role: str, name: str, hosts: tuple[str, ...] = LOOPBACK) -> Credentials:
        """Issue a certificate, for a process on this machine unless said otherwise."""
        issued = self._authority.issue(Subject(role=role, name=name, hosts=hosts))
        return Credentials(authority=self._authority.certificate, chain=issued.certificate, key=issued.key)

    def expired(self, *, role: str, name: str) -> Credentials:
        """Issue a certificate that ended some days ago."""
        then = datetime.now(UTC) - timedelta(days=7)
        earlier = Authority(
            trust_domain=self._authority.trust_domain, now=then, validity=timedelta(days=1), kept=self._authority.pair
        )
        issued = earlier.issue(Subject(role=role, name=name, hosts=LOOPBACK))
        return Credentials(authority=self._authority.certificate, chain=issued.certificate, key=issued.key)

    def write(self, folder: Path, *, name: str) -> None:
        """Write the certificate directory of a provisioner, replacing what is there."""
        issued = self.issue(role="provisioner", name=name)
        folder.mkdir(parents=True, exist_ok=True)
        for file, content in zip(NAMES, (issued.chain, issued.key, issued.authority), strict=True):
            written = folder / f".{file}"
            written.touch(mode=0o600)
            written.write_bytes(content)
            written.replace(folder / file)


def foreign(credentials: Credentials, *, trust_domain: str = "slipway") -> Credentials:
    """Give credentials whose own certificate comes from an authority that nobody trusts."""
    stranger = OwnAuthority(trust_domain=trust_domain).issue(role="bootstrapper", name="stranger")
    return Credentials(credentials.authority, stranger.chain, stranger.key, credentials.server_name)


def shown_by(endpoint: str, credentials: Credentials, *, most: ssl.TLSVersion | None = None) -> Shown:
    """Connect once and give what the server shows; its name is not checked.

    Raises:
        OSError: there is no TLS, or the server refuses.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(cadata=credentials.authority.decode("ascii"))
    context.set_alpn_protocols(["h2"])
    if most is not None:
        with warnings.catch_warnings():
            # Old versions are deprecated, which is why a server must refuse them.
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = most
            context.maximum_version = most
        # Else OpenSSL itself would refuse what the server is to refuse.
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
    _load(context, credentials)
    host, _, port = endpoint.rpartition(":")
    plain = socket.create_connection((host.strip("[]"), int(port)), timeout=5)
    with plain, context.wrap_socket(plain, server_hostname=credentials.server_name or None) as secure:
        certificate = x509.load_der_x509_certificate(secure.getpeercert(binary_form=True) or b"")
        return Shown(
            names=tuple(_hosts(certificate)),
            spiffe_ids=tuple(_alternative(certificate, x509.UniformResourceIdentifier)),
            serial=certificate.serial_number,
            version=secure.version() or "",
        )


def _load(context: ssl.SSLContext, credentials: Credentials) -> None:
    """Load a client's pair, by files that live for a moment, which is the only way that ssl has."""
    if not credentials.chain:
        return
    with NamedTemporaryFile() as chain, NamedTemporaryFile() as key:
        for file, content in ((chain, credentials.chain), (key, credentials.key)):
            file.write(content)
            file.flush()
        context.load_cert_chain(chain.name, key.name)


def _hosts(certificate: x509.Certificate) -> list[str]:
    return _alternative(certificate, x509.DNSName) + _alternative(certificate, x509.IPAddress)


def _alternative(certificate: x509.Certificate, kind: type[x509.GeneralName]) -> list[str]:
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    return [str(name.value) for name in names if isinstance(name, kind)]
