"""The health check of a container: as the gateway answers, and as it does not."""

import asyncio
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from slipway.node_gateway.probe import main
from slipway.rpc.addresses import free_port
from tests.services.certificates import Authority
from tests.services.node_gateway.served import gateway


async def test_a_gateway_that_serves_is_healthy(tmp_path: Path) -> None:
    """With TLS by its authority; by another one it is not known."""
    authority = Authority()
    certificates = authority.fill(tmp_path / "certs")
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    (tmp_path / "foreign.crt").write_bytes(Authority().certificate)
    async with gateway(tmp_path / "store", tls_cert_dir=certificates) as client:
        assert client._base_url is not None
        url = f"https://127.0.0.1:{client._base_url.port}"
        assert await asyncio.to_thread(main, [url, str(tmp_path / "ca.crt")]) == 0
        assert await asyncio.to_thread(main, [url, str(tmp_path / "foreign.crt")]) == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([f"http://127.0.0.1:{free_port()}"], 1),
        (["https://127.0.0.1:1", "/nonexistent"], 1),
        ([], 2),
        (["127.0.0.1:9443"], 2),
        (["file:///etc/passwd"], 2),
        (["http://127.0.0.1:nowhere"], 1),
    ],
)
def test_what_does_not_answer_is_not_healthy(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says so, without a traceback; wrong usage has a code of its own."""
    assert main(arguments) == code
    assert len(capsys.readouterr().err.splitlines()) == 1


class _Answers(BaseHTTPRequestHandler):
    """Answers with what the class has: status, and where it sends the client."""

    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/healthz" else 200)
        self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """Give a server of this machine that runs."""
    made = HTTPServer(("127.0.0.1", 0), _Answers)
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.mark.parametrize(("status", "code"), [(200, 0), (302, 1), (503, 1)])
def test_only_the_gateway_itself_is_asked(
    server: HTTPServer, status: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No proxy of the environment is asked, and where a redirect leads to says nothing of the gateway."""
    monkeypatch.setattr(_Answers, "status", status)
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert main([f"http://127.0.0.1:{server.server_port}"]) == code
    proxy = f"http://127.0.0.1:{server.server_port}"
    for name in ("http_proxy", "https_proxy"):
        monkeypatch.setenv(name, proxy)
    assert main([f"http://127.0.0.1:{free_port()}"]) == 1
