"""Certificates from one directory, read again when they change, without a restart.

The directory holds tls.crt, tls.key and ca.crt, as a Kubernetes Secret mount or cert-manager's does. Both sides
always show a certificate. Servers ask for the newest files at every new connection; clients have no such way, so
they compare the fingerprint and open new channels (see channel.py).
"""

import ssl
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import grpc
import structlog
from cryptography import x509

from slipway.contract.roles import DEFAULT_TRUST_DOMAIN, SPIFFE

NAMES = ("tls.crt", "tls.key", "ca.crt")
Fingerprint = tuple[tuple[int, int, int], ...]
_ATTEMPTS = 5
_PAUSE_SECONDS = 0.01
_log = structlog.get_logger("slipway.rpc")


class TlsFilesError(Exception):
    """The certificate directory cannot be used; the text names the file."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """One consistent set: own chain, own key, and the authority of the others (PEM)."""

    chain: bytes
    key: bytes = field(repr=False)
    authority: bytes


class CertificateFiles:
    """The certificate directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._broken: Fingerprint | None = None

    def fingerprint(self) -> Fingerprint:
        """Give what changes when a file is replaced, be it in place or by a Secret mount's symbolic link.

        Raises:
            TlsFilesError: a file is missing.
        """
        try:
            statuses = [self._path(name).stat() for name in NAMES]
        except OSError:
            raise TlsFilesError(f"{self._directory}: a file vanished while it was looked at") from None
        return tuple((entry.st_mtime_ns, entry.st_ino, entry.st_size) for entry in statuses)

    def read(self) -> Certificates:
        """Read the files.

        Raises:
            TlsFilesError: a file is missing or broken, or key and certificate are not a pair, and stay so for longer
                than it takes to replace one after the other.
        """
        for _ in range(_ATTEMPTS):
            before = self.fingerprint()
            try:
                certificates = self._read()
            except TlsFilesError:
                if before == self._broken:
                    raise
            else:
                if before == self.fingerprint():
                    return certificates
            # They are being replaced right now: done in a moment, while going on with older ones may fail a call.
            time.sleep(_PAUSE_SECONDS)
        self._broken = self.fingerprint()
        return self._read()

    def trust_domain(self) -> str:
        """Return the trust domain of the certificate's SPIFFE id, which is that of the servers, too.

        A certificate without such an id is of the domain that Slipway has by default.

        Raises:
            TlsFilesError: as read().
        """
        certificate = x509.load_pem_x509_certificate(self.read().chain)
        with suppress(x509.ExtensionNotFound):
            names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
            for uri in names.get_values_for_type(x509.UniformResourceIdentifier):
                if uri.startswith(SPIFFE):
                    return uri.removeprefix(SPIFFE).partition("/")[0]
        return DEFAULT_TRUST_DOMAIN

    def _read(self) -> Certificates:
        chain, key, authority = (self._path(name) for name in NAMES)
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(chain, key)
            context.load_verify_locations(authority)
            return Certificates(chain=chain.read_bytes(), key=key.read_bytes(), authority=authority.read_bytes())
        except (ssl.SSLError, OSError):
            raise TlsFilesError(
                f"{self._directory}: tls.crt, tls.key and ca.crt must be PEM and tls.key the key of tls.crt"
            ) from None

    def _path(self, name: str) -> Path:
        path = self._directory / name
        if not path.is_file():
            raise TlsFilesError(f"{path} is missing: the directory needs {', '.join(NAMES)}")
        return path


def server_credentials(files: CertificateFiles) -> grpc.ServerCredentials:
    """Give credentials that demand client certificates and follow the files; a broken change keeps the last good set.

    Raises:
        TlsFilesError: the files cannot be used now.
    """
    reloader = _Reloader(files)
    return grpc.dynamic_ssl_server_credentials(
        reloader.initial,
        reloader.changed,  # type: ignore[arg-type]  # the stub forgets that None means "no change"
        require_client_authentication=True,
    )


def channel_credentials(certificates: Certificates) -> grpc.ChannelCredentials:
    """Give the credentials of a client."""
    return grpc.ssl_channel_credentials(
        root_certificates=certificates.authority,
        private_key=certificates.key,
        certificate_chain=certificates.chain,
    )


class _Reloader:
    """Called by gRPC on a thread of its own at every new connection."""

    def __init__(self, files: CertificateFiles) -> None:
        self._files = files
        self._seen = files.fingerprint()
        self.initial = _configuration(files.read())

    def changed(self) -> grpc.ServerCertificateConfiguration | None:
        """Give the new set, or None if no set is usable."""
        try:
            now = self._files.fingerprint()
            if now == self._seen:
                return None
            configuration = _configuration(self._files.read())
        except TlsFilesError:
            _log.warning("new certificates unusable, last valid ones kept")
            return None
        self._seen = now
        _log.info("certificates reloaded")
        return configuration


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    return grpc.ssl_server_certificate_configuration(
        [(certificates.key, certificates.chain)], root_certificates=certificates.authority
    )
