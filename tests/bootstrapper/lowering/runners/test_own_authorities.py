"""Downloads from a server with an authority of its own, by the real curl and the real wget."""

import ssl
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.certificates.authority import Authority, Subject
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


@pytest.fixture(scope="module")
def authorities() -> tuple[Authority, Authority]:
    """Give the server's authority, and another one."""
    own, foreign = (
        Authority(trust_domain=name, now=utc_now(), validity=timedelta(days=2)) for name in ("own", "foreign")
    )
    return own, foreign


@pytest.fixture
def address(authorities: tuple[Authority, Authority], tmp_path: Path) -> Iterator[str]:
    """Serve the content over HTTPS, and give the address."""
    issued = authorities[0].issue(Subject(role="server", name="files", hosts=("127.0.0.1",)))
    certificate = tmp_path / "server.pem"
    certificate.write_bytes(issued.certificate + issued.key)
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
    machine: LinuxMachine, address: str, authorities: tuple[Authority, Authority], position: int, served: bool
) -> None:
    """The content arrives with the server's authority, and with another one there is no file.

    The wget of busybox verifies no server: it does not know the option, and there is no file either.
    """
    served = served and machine.shell != "busybox"
    remote = ospb.RemoteContent(urls=[address], ca=literal(authorities[position].certificate))
    file = ospb.File(path="/opt/own", owner="root", group="root", mode=0o644, remote=remote)
    assert (install(machine, Wave(id="files", files=(file,))) == 0) is served
    assert machine.path("/opt/own").exists() is served
    if served:
        assert machine.path("/opt/own").read_bytes() == CONTENT
