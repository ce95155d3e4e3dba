"""No password is sent before the certificate and the name in it are verified."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slipway.directory.failures import ConfigurationInvalid, ServerUnavailable
from slipway.directory.ldap_directory import connected
from slipway.directory.settings import Settings
from tests.services.certificates import Authority

PASSWORD = "canary-4711"


@dataclass
class Listener:
    """A server that answers nothing: what a client has sent it, without TLS."""

    port: int
    received: bytearray = field(default_factory=bytearray)


@contextmanager
def listening(context: ssl.SSLContext | None, address: str = "127.0.0.1") -> Iterator[Listener]:
    """Give a server that takes one connection, by TLS or as it is."""
    with socket.create_server((address, 0)) as server:
        listener = Listener(server.getsockname()[1])

        def serve() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    if context:
                        with context.wrap_socket(connection, server_side=True) as secured:
                            listener.received += secured.recv(4096)
                    else:
                        listener.received += connection.recv(4096)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        thread.join()


def connect(port: int, authority: Path, host: str = "localhost") -> None:
    """Connect and log in."""
    settings = Settings(
        server=f"ldaps://{host}:{port}", user="joiner@corp.example.com", password=PASSWORD, base="OU=Nodes", owner="us",
        authority=authority,
    )  # fmt: skip
    with connected(settings):
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The certificate of a server for "localhost", and its authority's."""
    return Authority().fill(tmp_path / "server")


def server_context(folder: Path) -> ssl.SSLContext:
    """Give the context of a server with that certificate."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    return context


def test_a_trusted_server_gets_the_password(folder: Path) -> None:
    """The other tests would see it, if it were sent."""
    with listening(server_context(folder)) as listener, pytest.raises(ServerUnavailable) as failure:
        connect(listener.port, folder / "ca.crt")
    assert PASSWORD.encode() in listener.received
    assert PASSWORD not in str(failure.value)


def test_a_server_of_another_authority_gets_nothing(folder: Path, tmp_path: Path) -> None:
    """Its certificate has the right name, and is not trusted."""
    other = Authority().fill(tmp_path / "other")
    with listening(server_context(folder)) as listener, pytest.raises(ServerUnavailable, match="not trusted"):
        connect(listener.port, other / "ca.crt")
    assert not listener.received


def test_a_server_of_another_name_gets_nothing(folder: Path) -> None:
    """Its certificate is trusted, for a host that was not asked for."""
    address = "127.0.0.2"
    with (
        listening(server_context(folder), address) as listener,
        pytest.raises(ServerUnavailable, match="for this name"),
    ):
        connect(listener.port, folder / "ca.crt", host=address)
    assert not listener.received


def test_a_server_without_tls_gets_no_password(folder: Path) -> None:
    """It gets the beginning of a handshake, and no more."""
    with listening(None) as listener, pytest.raises(ServerUnavailable):
        connect(listener.port, folder / "ca.crt")
    assert PASSWORD.encode() not in listener.received


def test_a_ca_file_without_a_certificate_is_refused(tmp_path: Path) -> None:
    """It does not fall back to the authorities of the system."""
    (tmp_path / "empty").touch()
    for name in ("empty", "absent"):
        with pytest.raises(ConfigurationInvalid, match="CA file"):
            connect(636, tmp_path / name)
