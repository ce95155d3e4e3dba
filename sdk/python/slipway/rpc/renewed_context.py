"""The TLS of HTTPS servers: follows tls.crt and tls.key of a directory, and ca.crt where clients show certificates."""

import ssl
from pathlib import Path

import structlog

_FILES = ("tls.crt", "tls.key")
_AUTHORITY = "ca.crt"
_log = structlog.get_logger("slipway.rpc")


class RenewedContext:
    """A server's TLS with the newest certificate of a directory at every new connection."""

    def __init__(self, directory: Path, *, verifies_clients: bool = False) -> None:
        """Use a directory; with `verifies_clients`, a client may show a certificate that ca.crt there has signed."""
        self._directory = directory
        self._verifies_clients = verifies_clients
        self._fingerprint: tuple[tuple[int, int], ...] = ()
        self._current = self._load()

    def context(self) -> ssl.SSLContext:
        """Give the context to listen with.

        Raises:
            OSError: there is no usable certificate.
        """
        outer = self._load()
        outer.sni_callback = self._renew
        return outer

    def _renew(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        try:
            if self._stat() != self._fingerprint:
                self._current = self._load()
        except OSError:
            # Half of a pair was replaced: the older pair serves until the other half is.
            _log.warning("the certificate cannot be read; going on with the last one")
        connection.context = self._current

    def _load(self) -> ssl.SSLContext:
        self._fingerprint = self._stat()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        chain, key = (self._directory / name for name in _FILES)
        context.load_cert_chain(chain, key)
        if self._verifies_clients:
            context.load_verify_locations(self._directory / _AUTHORITY)
            context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def _stat(self) -> tuple[tuple[int, int], ...]:
        names = (*_FILES, _AUTHORITY) if self._verifies_clients else _FILES
        statuses = [(self._directory / name).stat() for name in names]
        return tuple((entry.st_mtime_ns, entry.st_ino) for entry in statuses)
