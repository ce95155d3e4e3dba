"""Machines that fetch their payload from a real object store by a pre-signed address: no ticket, no gateway."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from slipway.bootstrapper.delivery.stubs.formats import STUBS
from slipway.bootstrapper.delivery.stubs.source import MOST_BYTES, Source
from slipway.diagnosis.bootstrap_events import event_of
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.services.certificates import Authority
from tools.oracles import cloud_init, ignition, object_store
from tools.oracles.machine_state import MachineState
from tools.oracles.object_store import ObjectStore
from tools.oracles.sandbox import File

pytestmark = [pytest.mark.engine, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[3]
CONTENT = b"of the payload\n"
NO_SLEEP = {"/usr/local/bin/sleep": File(b"#!/bin/sh\n", 0o755)}
LONG = 90_000


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Give the file of an authority; the certificate of the store and its key are in the folder beside it."""
    authority = Authority()
    authority.fill(tmp_path / "certificates", address="127.0.0.1")
    path = tmp_path / "authority.crt"
    path.write_bytes(authority.certificate)
    return path


@pytest.fixture
def store(engine: Callable[..., None], tmp_path: Path, certificate: Path) -> Iterator[ObjectStore]:
    """Run an object store with HTTPS, in a network in which nothing else is."""
    engine(object_store.NAME)
    folder = tmp_path / "buckets"
    folder.mkdir()
    with object_store.apart(
        folder, *(certificate.parent / "certificates" / f"tls.{end}" for end in ("crt", "key"))
    ) as running:
        running.bucket("payloads")
        yield running


def bundle() -> bundlepb.BootstrapBundle:
    """Give a machine with a user, a file and an entry point."""
    files = [testing.file("/etc/val/a", CONTENT), testing.file("/etc/slipway/run", b"echo run >>/var/lib/ran\n")]
    return testing.bundle(ospb.OperatingSystem(files=files, users=[ospb.User(name="ops")]))


def stub_of(store: ObjectStore, certificate: Path, payload: bytes, format_: str, *, seconds: int = LONG) -> bytes:
    """Store the payload as a controller does; give the user data that fetches it by the signed address."""
    words = [sys.executable, "-m", "tests.services.node_gateway.signing_controller"]
    words += ["s3://payloads/slipway", f"{store.address}/payloads/slipway", str(seconds)]
    environment = {**os.environ, **store.environment(), "SSL_CERT_FILE": str(certificate)}
    enter = ["nsenter", f"--net=/proc/{store.process.pid}/ns/net", f"--wd={ROOT}"]
    done = subprocess.run([*enter, *words], input=payload, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    url = done.stdout.decode()
    assert parse_qs(urlsplit(url).query)["X-Amz-Expires"] == [str(max(seconds, 1))]
    digest = hashlib.sha256(payload).hexdigest()
    source = Source(url, digest, authorities=certificate.read_text(), bundle_id="4f0c2f6a9d1be377")
    stub = STUBS[format_].write(source)
    assert len(stub) <= MOST_BYTES
    return stub


def boot_cloud_init(store: ObjectStore, stub: bytes) -> MachineState:
    """Boot a machine whose network is that of the store."""
    neighbour = store.process.pid
    with cloud_init.opened(root="node-bookworm", extra_files=NO_SLEEP, neighbour=neighbour) as machine:
        machine.boot(stub, timeout=600)
        return machine.state()


def test_cloud_init_gets_and_runs_its_payload(
    store: ObjectStore, certificate: Path, engine: Callable[..., None]
) -> None:
    """Files and users are there, the entry point ran, and the signature is in no log of the machine."""
    engine("root-node-bookworm")
    payload = testing.render(CloudInit(), bundle())
    stub = stub_of(store, certificate, payload, "cloud-config")
    state = boot_cloud_init(store, stub)
    assert state.status == "done", state.findings
    assert state.content("/etc/val/a") == CONTENT
    assert state.content("/var/lib/ran") == b"run\n"
    assert "ops" in state.users
    signature = stub.partition(b"X-Amz-Signature=")[2][:64]
    assert signature.isalnum()
    logs = {**state.files, **state.engine_files}
    shown = [path for path in logs if path.startswith("/var/log/") and signature in state.content(path)]
    assert shown == []
    assert signature not in state.console


@pytest.mark.parametrize("wrong", ["an address of yesterday", "another payload in its place"])
def test_cloud_init_reports_a_payload_that_it_does_not_get(
    store: ObjectStore, certificate: Path, engine: Callable[..., None], wrong: str
) -> None:
    """The store refuses the address, or its bytes have another hash: nothing is executed, and the console says so."""
    engine("root-node-bookworm")
    payload = testing.render(CloudInit(), bundle())
    stub = stub_of(store, certificate, payload, "cloud-config", seconds=0 if "address" in wrong else LONG)
    if "payload" in wrong:
        stub_of(store, certificate, payload.replace(b"echo run", b"echo RUN"), "cloud-config")
    state = boot_cloud_init(store, stub)
    events = [event_of(line) for line in state.console.decode().splitlines() if line.startswith("{")]
    assert [(event.bundle_id, event.reason) for event in events if event] == [("4f0c2f6a9d1be377", "PayloadNotFetched")]
    assert not {"/etc/val/a", "/var/lib/ran"} & {*state.files, *state.engine_files}
    assert "ops" not in state.users


@pytest.mark.parametrize("seconds", [LONG, 0], ids=["in time", "too late"])
def test_ignition_gets_its_payload_in_time_only(
    store: ObjectStore, certificate: Path, engine: Callable[..., None], seconds: int
) -> None:
    """Ignition replaces the stub by the payload; an address that is not valid any more makes no machine."""
    engine("ignition")
    payload = testing.render(IgnitionProvisioner(), bundle(), format_id="ignition/3.3.0")
    stub = stub_of(store, certificate, payload, "ignition/3.3.0", seconds=seconds).replace(b"3600", b"5")
    with ignition.opened(neighbour=store.process.pid) as machine:
        machine.boot(stub, timeout=600)
        state = machine.state()
    assert (state.status == "done") is bool(seconds), state.findings
    assert ("ops" in state.users) is bool(seconds)
    assert ("/etc/val/a" in state.files) is bool(seconds)
