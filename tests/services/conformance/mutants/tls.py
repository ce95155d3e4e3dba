"""Mutants that let anybody in, or show the wrong thing."""

import asyncio
import ssl
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import grpc
import grpc.aio

from slipway.conformance.launcher import Setup, free_address
from tests.services.conformance.bent import Bent, Life
from tests.services.conformance.mutants.living import Front, living, read
from tests.services.conformance.mutants.mutant import Mutant


class _Credentials(Life):
    """Other credentials of its server."""

    def __init__(self, make: Callable[[Path], grpc.ServerCredentials]) -> None:
        self._make = make

    def credentials(self, folder: Path) -> grpc.ServerCredentials:
        return self._make(folder)


def _open_door(folder: Path) -> grpc.ServerCredentials:
    chain, key, _ = read(folder)
    return grpc.ssl_server_credentials([(key, chain)])


def _asked_only(folder: Path) -> grpc.ServerCredentials:
    """Ask for a certificate and take any, or none."""
    chain, key, authority = read(folder)
    pairs = [grpc.ssl_server_certificate_configuration([(key, chain)], root_certificates=authority)]
    return grpc.dynamic_ssl_server_credentials(pairs[0], lambda: None, require_client_authentication=False)


def _read_once(folder: Path) -> grpc.ServerCredentials:
    chain, key, authority = read(folder)
    return grpc.ssl_server_credentials([(key, chain)], root_certificates=authority, require_client_auth=True)


class _Timeless(Front):
    """Takes certificates that have expired: something in front ends TLS, and does not look at the time."""

    _NO_CHECK_TIME = 0x200000

    def heard(self, setup: Setup) -> Setup:
        self._secure = not setup.insecure
        return setup

    def front(self, listen: str) -> str:
        self.behind = free_address() if self._secure else listen
        self._listen = listen
        return self.behind

    def credentials(self, folder: Path) -> grpc.ServerCredentials:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        context.load_verify_locations(folder / "ca.crt")
        context.verify_mode = ssl.CERT_REQUIRED
        context.verify_flags |= self._NO_CHECK_TIME
        context.set_alpn_protocols(["h2"])
        host, _, port = self._listen.rpartition(":")
        self._started.append(asyncio.ensure_future(asyncio.start_server(self._serve, host, int(port), ssl=context)))
        return grpc.local_server_credentials(grpc.LocalConnectionType.LOCAL_TCP)


class _PlainToo(Front):
    """Answers in plain text on the same port."""

    def __init__(self) -> None:
        super().__init__()
        self.plain = ""

    def add(self, server: grpc.aio.Server) -> None:
        self.plain = free_address()
        server.add_insecure_port(self.plain)

    def choose(self, head: bytes) -> str:
        return self.plain if head.startswith(b"PRI ") else self.behind


class _OldToo(Front):
    """Speaks TLS 1.1 with those who know nothing newer."""

    def __init__(self) -> None:
        super().__init__()
        self.old = ""

    def credentials(self, folder: Path) -> grpc.ServerCredentials:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            context.minimum_version = ssl.TLSVersion.TLSv1_1
        context.set_ciphers("DEFAULT:@SECLEVEL=0")
        context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
        self.old = free_address()
        host, _, port = self.old.rpartition(":")

        async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self._writers.append(writer)
            await reader.read()

        self._started.append(asyncio.ensure_future(asyncio.start_server(hold, host, int(port), ssl=context)))
        return super().credentials(folder)

    def choose(self, head: bytes) -> str:
        return self.old if head[9:11] == b"\x03\x02" else self.behind


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant(
        "certificates that nobody asks for", ("TRN-005.foreign-certificate", "TRN-005.no-certificate"),
        living(_Credentials(_open_door)), secure=True,
    )  # fmt: skip
    yield Mutant(
        "certificates that are optional", ("TRN-005.no-certificate",), living(_Credentials(_asked_only)), secure=True
    )
    yield Mutant("certificates for ever", ("TRN-005.expired-certificate",), living(_Timeless()), ("TRN",), secure=True)
    yield Mutant("plain text too", ("TRN-006.plain-text",), living(_PlainToo()), secure=True)
    # What the suite issues has the first name; what is served says another one.
    names = iter(["somebody-else"])
    yield Mutant(
        "another name than in the certificate", ("TRN-007.identity",),
        Bent(info=lambda info, _: setattr(info, "name", next(names, "cloud-init"))), ("INF",), secure=True,
    )  # fmt: skip
    yield Mutant("TLS 1.1", ("TRN-008.old-tls",), living(_OldToo()), secure=True)
    yield Mutant(
        "certificates that are read once",
        ("TRN-009.renewed-certificate",),
        living(_Credentials(_read_once)),
        secure=True,
    )
