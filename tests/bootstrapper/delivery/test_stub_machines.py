"""Machines that fetch their payload, by the real cloud-init and the real Ignition: the same as if it were user data."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from slipway.bootstrapper.delivery.stubs.formats import STUBS
from slipway.bootstrapper.delivery.stubs.source import Source
from slipway.contract.content import literal
from slipway.diagnosis.bootstrap_events import event_of
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.provisioners.ignition.render import IgnitionProvisioner
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.delivery.sources import TICKET, URL, authority, foreign_authority, site
from tools.oracles import cloud_init, ignition, tree_diff
from tools.oracles.sandbox import File
from tools.oracles.tree_diff import Allowed, Part

pytestmark = [pytest.mark.engine, pytest.mark.timeout(600)]
ROOTS = ["node-trixie", "node-bookworm"]
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
CANARY = b"Zq7CanaryValue"
RECORDS = [
    Allowed(Part.FILE, "/etc/slipway/payload", "what was fetched, kept for later boots"),
    Allowed(Part.FILE, "/etc/slipway/ca", "what vouches for the server"),
]
NO_SLEEP = {"/usr/local/bin/sleep": File(b"#!/bin/sh\n", 0o755)}


def _bundle(*, boot: bool) -> bundlepb.BootstrapBundle:
    system = ospb.OperatingSystem(
        files=[
            testing.file("/etc/val/a.conf", bytes(range(256)) + CANARY, mode=0o640, group="daemon"),
            testing.file("/srv/new/deep/o.txt", b"mine", owner="ops", group="team", mode=0o600),
            testing.file("/etc/slipway/run", b"echo run >>/var/lib/ran\n"),
        ],
        groups=[ospb.Group(name="team")],
        users=[
            ospb.User(name="ops", groups=["team"], uid=4321, sudo=["ALL=(ALL) NOPASSWD:ALL"], ssh_authorized_keys=[KEY])
        ],
        default_user=ospb.DEFAULT_USER_OMIT if boot else ospb.DEFAULT_USER_UNSPECIFIED,
        hostname=ospb.Hostname(name=contentpb.MachineText(value="fetched-7")),
    )
    bundle = testing.bundle(system)
    if boot:
        bundle.os.time_zone.name = "Europe/Berlin"
        bundle.commands.boot.append(planpb.Command(script=literal(b"echo boot >>/var/lib/booted\n")))
    return bundle


def _stub(format_: str, payload: bytes, *, authorities: bytes) -> bytes:
    digest = hashlib.sha256(payload).hexdigest()
    return STUBS[format_].write(Source(URL, digest, TICKET, authorities.decode(), "4f0c2f6a9d1be377"))


@contextmanager
def _fetching(root: str, payload: bytes, served: bytes) -> Iterator[cloud_init.Machine]:
    stub = _stub("cloud-config", payload, authorities=authority().certificate)
    with cloud_init.opened(root=root, sites=[site(served)], extra_files=NO_SLEEP) as machine:
        machine.boot(stub)
        yield machine


@pytest.mark.parametrize("root", ROOTS)
def test_cloud_init_makes_the_same_machine(root: str, engine: Callable[..., None]) -> None:
    """Users, keys, owners, host name, time zone, boot commands and the entry point are those of inline user data.

    A second boot needs no network, executes boot commands once more, and nothing else.
    """
    engine(f"root-{root}")
    payload = testing.render(CloudInit(), _bundle(boot=True))
    with cloud_init.opened(root=root, extra_files=NO_SLEEP) as machine:
        machine.boot(payload)
        inline = machine.state()
        machine.boot()
        inline_again = machine.state()
    with _fetching(root, payload, payload) as machine:
        fetched = machine.state()
        (machine.box.upper / "usr/bin/curl").parent.mkdir(parents=True, exist_ok=True)
        (machine.box.upper / "usr/bin/curl").write_text("#!/bin/sh\nexit 7\n")
        machine.boot()
        fetched_again = machine.state()
    assert (inline.status, fetched.status) == ("done", "done"), fetched.findings
    assert tree_diff.compare(inline, fetched, allowed=[*tree_diff.standing(), *RECORDS]) == []
    assert (inline.hostname, fetched.hostname) == ("fetched-7", "fetched-7")
    assert fetched.users["ops"].ssh_keys == inline.users["ops"].ssh_keys
    assert {**fetched.files, **fetched.engine_files}["/etc/slipway/payload"].mode == 0o600
    changed = Allowed(Part.FILE, "/usr/bin/curl", "taken away here")
    assert tree_diff.compare(inline_again, fetched_again, allowed=[*tree_diff.standing(), *RECORDS, changed]) == []
    assert fetched_again.content("/var/lib/booted") == b"boot\nboot\n"
    assert fetched_again.content("/var/lib/ran") == inline_again.content("/var/lib/ran")
    assert fetched_again.hostname == "fetched-7"


@pytest.mark.parametrize("root", ROOTS)
def test_cloud_init_executes_nothing_of_another_payload(root: str, engine: Callable[..., None]) -> None:
    """What does not have the hash is tried again, and given up; the console shows it."""
    engine(f"root-{root}")
    payload = testing.render(CloudInit(), _bundle(boot=True))
    with _fetching(root, payload, payload.replace(b"echo run", b"echo RUN")) as machine:
        state = machine.state()
    assert "ops" not in state.users
    assert not {"/etc/val/a.conf", "/var/lib/ran", "/var/lib/booted"} & {*state.files, *state.engine_files}
    events = [event_of(line) for line in state.console.decode().splitlines() if line.startswith("{")]
    assert [(event.bundle_id, event.reason) for event in events if event] == [("4f0c2f6a9d1be377", "PayloadNotFetched")]


@pytest.mark.parametrize("kept", ["half of it", "all of it"])
def test_a_power_cut_on_the_way_changes_nothing(kept: str, engine: Callable[..., None]) -> None:
    """What was cut while it was downloaded is fetched again; what was there, and not executed, needs no source."""
    engine("root-node-bookworm")
    payload = testing.render(CloudInit(), _bundle(boot=True))
    part = payload if kept == "all of it" else payload[: len(payload) // 2]
    files = {**NO_SLEEP, "/etc/slipway/payload": File(part, 0o600)}
    sites = [] if kept == "all of it" else [site(payload)]
    with cloud_init.opened(root="node-bookworm", sites=sites, extra_files=files) as machine:
        machine.boot(_stub("cloud-config", payload, authorities=authority().certificate))
        state = machine.state()
        written = (machine.box.upper / "etc/slipway/payload").read_bytes()
    assert state.status == "done", state.findings
    assert written == payload
    assert "ops" in state.users
    assert state.content("/var/lib/ran") == b"run\n"


def test_a_snapshot_is_a_new_machine_without_the_source(engine: Callable[..., None]) -> None:
    """A machine of another one's disk, under a new instance id: what was fetched is applied anew, as if inline."""
    engine("root-node-bookworm")
    payload = testing.render(CloudInit(), _bundle(boot=True))
    stub = _stub("cloud-config", payload, authorities=authority().certificate)
    states = []
    for user_data, sites in ((payload, []), (stub, [site(payload)])):
        with cloud_init.opened(root="node-bookworm", sites=sites, extra_files=NO_SLEEP) as machine:
            machine.boot(user_data)
            curl = machine.box.upper / "usr/bin/curl"
            curl.parent.mkdir(parents=True, exist_ok=True)
            curl.write_text("#!/bin/sh\nexit 7\n")
            (described,) = machine.box.upper.glob("var/lib/cloud/seed/*/meta-data")
            described.write_text(json.dumps({"instance-id": "i-snapshot", "local-hostname": "node1"}))
            machine.boot()
            states.append(machine.state())
    inline, fetched = states
    assert tree_diff.compare(inline, fetched, allowed=[*tree_diff.standing(), *RECORDS]) == []
    assert (inline.hostname, fetched.hostname) == ("fetched-7", "fetched-7")
    assert fetched.content("/var/lib/booted") == inline.content("/var/lib/booted")
    assert fetched.content("/var/lib/ran") == inline.content("/var/lib/ran")


def test_ignition_makes_the_same_machine(engine: Callable[..., None]) -> None:
    """Ignition replaces the stub by the payload, and leaves nothing of the stub."""
    engine("ignition")
    payload = testing.render(IgnitionProvisioner(), _bundle(boot=False), format_id="ignition/3.3.0")
    stub = _stub("ignition/3.3.0", payload, authorities=authority().certificate)
    inline = ignition.run(payload)
    with ignition.opened(sites=[site(payload)]) as machine:
        machine.boot(stub)
        fetched = machine.state()
    assert (inline.status, fetched.status) == ("done", "done"), fetched.findings
    assert tree_diff.compare(inline, fetched, allowed=tree_diff.standing()) == []
    assert "ops" in fetched.users


@pytest.mark.parametrize("wrong", ["payload", "authority"])
def test_ignition_executes_nothing_of_another_payload(wrong: str, engine: Callable[..., None]) -> None:
    """Another content, or a server for which the authority does not vouch, makes no machine."""
    engine("ignition")
    payload = testing.render(IgnitionProvisioner(), _bundle(boot=False), format_id="ignition/3.3.0")
    vouches = foreign_authority() if wrong == "authority" else authority()
    stub = _stub("ignition/3.3.0", payload, authorities=vouches.certificate).replace(b"3600", b"5")
    with ignition.opened(sites=[site(payload + b" " if wrong == "payload" else payload)]) as machine:
        machine.boot(stub)
        state = machine.state()
    assert state.status != "done"
    assert "ops" not in state.users
