"""Addresses that are none, and servers that are no help: told by what to do."""

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.services.cli.conftest import EXAMPLES, Local, Slipway

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("local")]

NATIVE = EXAMPLES / "native.yaml"
WRONG = [
    ("127.0.0.1:99999", "from 1 to 65535", "a port that there is not: gRPC would ask another one"),
    ("127.0.0.1:0", "from 1 to 65535", "no port"),
    ("localhost", "HOST:PORT", "a host alone"),
    (":9441", "HOST:PORT", "a port alone"),
    ("dns:///:9441", "HOST:PORT", "a port alone, in the words of gRPC"),
    ("a,b:443", "HOST:PORT", "two hosts"),
    ("::1:9443", "in brackets", "an IPv6 address whose end cannot be seen"),
    ("user@h:443", "HOST:PORT", "a user"),
    ("http://127.0.0.1:9441", "without a scheme", "the address of a web page"),
]


@pytest.mark.parametrize(("address", "said", "reason"), WRONG, ids=[row[-1] for row in WRONG])
def test_an_address_that_is_none_is_a_wrong_command_line(
    slipway: Slipway, address: str, said: str, reason: str
) -> None:
    """For a server, a registry and a provisioner under test, before anybody is asked."""
    for arguments in (
        ("render", NATIVE, "--server", address),
        ("provisioners", "--registry", address),
        ("conformance", "run", "--endpoint", address),
    ):
        result = slipway(*arguments, "--insecure")
        assert (result.exit_code, said in result.stderr) == (2, True), (reason, result.stderr)


@pytest.fixture
def web() -> Iterator[str]:
    """The address of a server that speaks something else."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            try:
                while True:
                    with server.accept()[0] as caller:
                        caller.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
            except OSError:
                return

        thread = threading.Thread(target=greet)
        thread.start()
        try:
            yield f"127.0.0.1:{server.getsockname()[1]}"
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def test_who_answers_in_another_language_is_told(slipway: Slipway, web: str) -> None:
    """Exit code 1, and no frame types."""
    result = slipway("explain", NATIVE, "--server", web, "--insecure")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "does not answer: what answers there does not speak gRPC" in result.stderr


def test_the_wrong_service_is_told(slipway: Slipway, local: Local) -> None:
    """A registry is no bootstrapper, and the other way round: said once, not for every machine."""
    server, registry = local.flags[1], local.flags[3]
    for arguments in (
        ("render", NATIVE, "--provisioner", "talos", "--server", registry, "--insecure"),
        ("provisioners", "--registry", server, "--insecure"),
    ):
        result = slipway(*arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.count("has no such call: it is another service (--server is the bootstrapper's") == 1


def test_up_does_not_take_somebody_else_for_its_own(local: Local) -> None:
    """A second one on the same port says so, and never that everything is up."""
    port = local.flags[3].rpartition(":")[2]
    argv = [sys.executable, "-m", "slipway.cli", "up", "--port", port]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"127.0.0.1:{port} is in use: choose another --port" in done.stderr
