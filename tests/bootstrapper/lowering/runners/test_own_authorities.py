"""Downloads from a server with an authority of its own, by the real curl and the real wget."""

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.staging import install

CONTENT = b"from a server of our own\n"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Answer every path with the content."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def server_certificate(*, age: timedelta = timedelta(0)) -> tuple[bytes, bytes]:
    """Give a certificate of this machine that is its own authority, made so long ago for a day, and its key, PEM."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC) - age
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "files")])
    address = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).add_extension(address, critical=False)
    made = made.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return signed.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM), private


@pytest.fixture(scope="module")
def authorities() -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
    """Give the server's certificate, which is its own authority, and another one."""
    return server_certificate(), server_certificate()


@pytest.fixture
def address(authorities: tuple[tuple[bytes, bytes], tuple[bytes, bytes]], tmp_path: Path) -> Iterator[str]:
    """Serve the content over HTTPS, and give the address."""
    certificate = tmp_path / "server.pem"
    certificate.write_bytes(b"".join(authorities[0]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}/file"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("position", "served"), [(0, True), (1, False)], ids=["its own", "another"])
def test_only_the_right_authority_vouches(
    machine: LinuxMachine,
    address: str,
    authorities: tuple[tuple[bytes, bytes], tuple[bytes, bytes]],
    position: int,
    served: bool,
) -> None:
    """The content arrives with the server's authority, and with another one there is no file.

    The wget of busybox verifies no server: it does not know the option, and there is no file either.
    """
    served = served and machine.shell != "busybox"
    remote = ospb.RemoteContent(urls=[address], ca=literal(authorities[position][0]))
    file = ospb.File(path="/opt/own", owner="root", group="root", mode=0o644, remote=remote)
    assert (install(machine, Wave(id="files", files=(file,))) == 0) is served
    assert machine.path("/opt/own").exists() is served
    if served:
        assert machine.path("/opt/own").read_bytes() == CONTENT
