"""A mirror or gateway whose certificate has expired gives nothing: the real curl refuses it, and the log says why."""

import hashlib
import http.server
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import yaml

from slipway.bootstrapper.delivery.stubs.formats import STUBS
from slipway.bootstrapper.delivery.stubs.source import Source
from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import literal
from slipway.diagnosis.bootstrap_events import event_of
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import lowered
from tests.bootstrapper.lowering.runners.test_own_authorities import server_certificate

CONTENT = b"#cloud-config\nruncmd: [x]\n"
DIGEST = hashlib.sha256(CONTENT).hexdigest()
EXPIRED, VALID = timedelta(days=2), timedelta(0)
"""How long ago a certificate was made that is valid for a day."""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers every path with the content."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.send_header("Content-Length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Reports no client that ends its handshake."""

    def handle_error(self, *_: object) -> None:
        """Print nothing."""


@dataclass(frozen=True)
class Place:
    """A server.

    Attributes:
        address: its address.
        authority: what vouches for it, PEM.
    """

    address: str
    authority: bytes


@contextmanager
def serving(folder: Path, age: timedelta) -> Iterator[Place]:
    """Serve the content with a certificate that was made so long ago, for a day."""
    certificate, key = server_certificate(age=age)
    file = folder / f"{age.days}.pem"
    file.write_bytes(certificate + key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with Server(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield Place(f"https://127.0.0.1:{server.server_address[1]}", certificate)
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(autouse=True)
def with_curl(machine: LinuxMachine) -> None:
    """The wget of busybox verifies no server, and is not asked to: see test_own_authorities."""
    if machine.shell == "busybox":
        pytest.skip("busybox has no curl")


def run(machine: LinuxMachine, argv: list[str]) -> tuple[int, str]:
    """Run a program of a machine; give its exit code, and what it printed."""
    process = machine.start(argv)
    texts = process.communicate(timeout=120)
    return process.returncode, "".join(text.decode() for text in texts)


@pytest.mark.parametrize("ages", [[EXPIRED], [EXPIRED, VALID]], ids=["the only mirror", "the first mirror"])
def test_a_mirror_gives_nothing(machine: LinuxMachine, tmp_path: Path, ages: list[timedelta]) -> None:
    """Not even the right content; the next mirror serves, and after the last one host and reason are in the log."""
    with serving(tmp_path, EXPIRED) as first, serving(tmp_path, ages[-1]) as last:
        places = (first, last)[: len(ages)]
        remote = ospb.RemoteContent(
            urls=[f"{place.address}/file" for place in places],
            sha256=DIGEST, ca=literal(b"".join(place.authority for place in places)),
        )  # fmt: skip
        file = ospb.File(path="/opt/agent", owner="root", group="root", mode=0o755, remote=remote)
        plan = lowered([Wave(id="files", files=(file,))])
        machine.write(plan.files)
        code, _ = run(machine, list(plan.entrypoint.argv))
    log = machine.path("/run/slipway/log").read_text()
    assert "certificate has expired" in log
    assert f"{first.address.removeprefix('https://')}: no answer, or another content" in log
    assert (code == 0) is (len(ages) == 2)
    assert machine.path("/opt/agent").exists() is (len(ages) == 2)


@pytest.mark.parametrize("age", [EXPIRED, VALID], ids=["expired", "valid"])
def test_a_stub_takes_no_payload(machine: LinuxMachine, tmp_path: Path, age: timedelta) -> None:
    """It tries on for its time, gives the reason each time, then writes its event; cloud-init is handed nothing."""
    machine.fake("cloud-init")
    machine.path("/var/lib/cloud/instance").mkdir(parents=True)
    with serving(tmp_path, age) as place:
        source = Source(f"{place.address}/payload", DIGEST, "t" * 43, place.authority.decode(), "4f0c2f6a9d1be377")
        (command,) = yaml.safe_load(STUBS["cloud-config"].write(source))["bootcmd"]
        # Two tries in place of an hour's.
        machine.path("/stub").write_text(command.replace("!= 85", "!= 2"))
        code, output = run(machine, ["/bin/sh", "/stub"])
    console = machine.path("/dev/console").read_text()
    handed = machine.path("/var/lib/cloud/instance/cloud-config.txt")
    if age == VALID:
        assert (code, console, handed.read_bytes()) == (0, "", CONTENT)
        assert any(call.startswith("cloud-init single") for call in machine.calls)
        return
    assert code == 1
    assert output.count("certificate has expired") == 2
    event = event_of(console.strip())
    assert event is not None
    assert event.reason == "PayloadNotFetched"
    assert not handed.exists()
    assert not any(call.startswith("cloud-init") for call in machine.calls)
    assert machine.path("/etc/slipway/payload").read_bytes() == b""
    assert "t" * 43 not in output + console
