"""The HTTPS server that the API server asks when an opted-in KubeadmConfig is created. Every replica runs one."""

import asyncio
import json
import ssl
from pathlib import Path

import structlog
from aiohttp import web

from slipway.controller.opt_in.admission import NotAReviewError, reviewed

PATH = "/opt-in"
_MOST_BYTES = 8 * 2**20
"""An object has at most 1.5 MiB, and a review holds it once; escapes of JSON make it longer."""

_FILES = ("tls.crt", "tls.key")
_log = structlog.get_logger("slipway.controller")


class Webhook:
    """Answers reviews at an address."""

    def __init__(self, *, host: str, port: int, certificates: Path) -> None:
        """Listen at an address with the certificate of a directory (tls.crt, tls.key), which may be renewed."""
        self._host = host
        self._port = port
        self._certificates = RenewedContext(certificates)
        self._runner: web.AppRunner | None = None

    async def start(self) -> None:
        """Listen from now on.

        Raises:
            OSError: the address can not be listened at, or there is no certificate.
        """
        application = web.Application(client_max_size=_MOST_BYTES)
        application.router.add_post(PATH, _review)
        self._runner = web.AppRunner(application, access_log=None, handle_signals=False)
        await self._runner.setup()
        context = self._certificates.context()
        await web.TCPSite(self._runner, self._host, self._port, ssl_context=context).start()

    @property
    def url(self) -> str:
        """Where it listens, once it does: of use where the port was the system's to choose."""
        if self._runner is None:
            raise RuntimeError("it does not listen yet")
        host, port, *_ = self._runner.addresses[0]
        return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"

    async def stop(self) -> None:
        """Answer what was asked, and listen no longer."""
        if self._runner is None or self._runner.server is None:
            return
        lines = [one.transport for one in self._runner.server.connections if one.transport is not None]
        await self._runner.cleanup()
        for line in lines:
            # The API server keeps idle lines open; a farewell by TLS would wait for it.
            line.abort()
        await asyncio.sleep(0)


class RenewedContext:
    """A server's TLS with the newest certificate of a directory at every new connection."""

    def __init__(self, directory: Path) -> None:
        """Use a directory."""
        self._directory = directory
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
            _log.warning("the webhook's certificate can not be read; going on with the last one")
        connection.context = self._current

    def _load(self) -> ssl.SSLContext:
        self._fingerprint = self._stat()
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        chain, key = (self._directory / name for name in _FILES)
        context.load_cert_chain(chain, key)
        return context

    def _stat(self) -> tuple[tuple[int, int], ...]:
        found = [(self._directory / name).stat() for name in _FILES]
        return tuple((one.st_mtime_ns, one.st_ino) for one in found)


async def _review(request: web.Request) -> web.Response:
    try:
        answer = reviewed(json.loads(await request.read()))
    except (NotAReviewError, ValueError, RecursionError):
        raise web.HTTPBadRequest(text="no AdmissionReview of version v1") from None
    return web.json_response(answer)
