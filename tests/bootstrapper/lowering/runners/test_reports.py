"""Reports of a machine by HTTP: real servers, real shells, and a bootstrap that never notices them."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.lowering.runners.conftest import AGENT, BY_SHELL, MARKS, linux_machine
from tests.bootstrapper.lowering.runners.events import EVENTS
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PRE, PREPARE, SENTINEL, note, script
from tests.bootstrapper.lowering.runners.reporting_machine import (
    ALWAYS,
    ENTRY,
    EVENTS_PATH,
    LOGS_PATH,
    NEVER,
    ON_FAILURE,
    UNIT,
    prepare,
    stop,
    wait_for,
)
from tests.bootstrapper.lowering.runners.sink import Sink
from tools.oracles import machineadm

pytestmark = pytest.mark.long

NEEDED = [
    "base64", "cat", "chmod", "chown", "cp", "date", "ln", "mkdir", "mv", "readlink", "rm", "sync", "tail", "tee",
    "timeout", "tr", "uname", "wc", "wget", "flock", "sh", "env",
]  # fmt: skip


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Give a server that takes everything."""
    made = Sink()
    yield made
    made.close()


@pytest.fixture(params=[*BY_SHELL[:2], pytest.param(AGENT, marks=MARKS[AGENT])])
def reporter(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine that has curl and wget, by each executor."""
    if request.param == AGENT:
        request.getfixturevalue("engine")(AGENT)
    for machine in linux_machine("dash" if request.param == AGENT else request.param, tmp_path):
        machine.agent = machineadm.require() if request.param == AGENT else None
        yield machine
        stop(machine)


@pytest.fixture
def dash(tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine that has curl and wget."""
    for machine in linux_machine("dash", tmp_path):
        yield machine
        stop(machine)


def test_events_arrive(reporter: LinuxMachine, sink: Sink) -> None:
    """The object is the file of events, to the last one; then the service is switched off."""
    prepare(reporter, sink.address, note("a", PRE), note("m"))
    assert reporter.run(ENTRY) == 0
    wait_for(lambda: "systemctl disable slipway-report" in reporter.calls)
    assert sink.objects == {EVENTS_PATH: reporter.path(EVENTS).read_bytes()}
    assert b"EVENT_STATE_COMPLETE" in sink.objects[EVENTS_PATH]
    assert b'"step":"report","state":"EVENT_STATE_STARTED"' in sink.objects[EVENTS_PATH]
    unit = reporter.path(UNIT).read_text()
    assert "ExecStart=/bin/sh /var/lib/slipway/steps/report\n" in unit
    assert reporter.path(UNIT).stat().st_mode & 0o777 == 0o644


def test_a_failure_while_the_machine_is_prepared_arrives(reporter: LinuxMachine, sink: Sink) -> None:
    """Reporting is the first step of all; after a failure the service stays enabled for the next boot."""
    prepare(reporter, sink.address, script("55-install", "exit 3", PREPARE), note("m"))
    assert reporter.run(ENTRY) == 1
    wait_for(lambda: b"EVENT_STATE_FAILED" in sink.objects.get(EVENTS_PATH, b""))
    assert "systemctl disable slipway-report" not in reporter.calls


@pytest.mark.parametrize(
    ("logs", "fails", "sent"),
    [(ON_FAILURE, True, True), (ON_FAILURE, False, False), (ALWAYS, False, True), (NEVER, True, False)],
    ids=["on a failure", "not on success", "always", "never"],
)
def test_the_log_bundle_arrives(  # noqa: PLR0913  # fixtures and the row of the table
    dash: LinuxMachine,
    sink: Sink,
    engine: Callable[..., None],
    logs: specpb.ReportedLogs.ValueType,
    *,
    fails: bool,
    sent: bool,
) -> None:
    """Where the machine has machineadm, its bundle is sent when the spec says so."""
    engine(AGENT)
    dash.path("/opt/bin").mkdir(parents=True)
    dash.path("/opt/bin/machineadm").write_bytes(machineadm.require().read_bytes())
    dash.path("/opt/bin/machineadm").chmod(0o755)
    prepare(dash, sink.address, script("m", "exit 3" if fails else "true"), logs=logs)
    assert (dash.run(ENTRY) == 1) is fails
    final = b"EVENT_STATE_FAILED" if fails else b"EVENT_STATE_COMPLETE"
    wait_for(lambda: final in sink.objects.get(EVENTS_PATH, b""))
    if sent:
        wait_for(lambda: LOGS_PATH in sink.objects)
        assert sink.objects[LOGS_PATH].startswith(b"\x1f\x8b")
    elif fails:
        wait_for(lambda: sink.requests > 0)
        assert LOGS_PATH not in sink.objects
    else:
        wait_for(lambda: "systemctl disable slipway-report" in dash.calls)
        assert LOGS_PATH not in sink.objects


def without_curl(machine: LinuxMachine) -> list[str]:
    """Give what starts the runner where GNU wget is the only client."""
    machine.path("/only").mkdir()
    for name in NEEDED:
        place = next(path for path in (f"/usr/bin/{name}", f"/bin/{name}") if Path(path).exists())
        machine.path(f"/only/{name}").symlink_to(place)
    return ["/bin/sh", "-c", 'PATH=/fake:/only; export PATH; exec "$@"', "sh", *ENTRY]


def test_without_curl_wget_sends(dash: LinuxMachine, sink: Sink) -> None:
    """GNU wget does the same."""
    prepare(dash, sink.address, note("m"))
    assert dash.run(without_curl(dash)) == 0
    wait_for(lambda: b"EVENT_STATE_COMPLETE" in sink.objects.get(EVENTS_PATH, b""))


UNSOUND = {
    "a quote": '/a"',
    "an option behind a quote": '/a"\noutput = "/pwned',
    "a backslash": "/a\\b",
    "a second address": "/a\nhttp://127.0.0.1:1/b",
    "a carriage return": "/a\r",
    "a blank": "/a b",
    "a control character": "/a\x01",
}
"""What is no part of an address, behind one that the sink would take."""


@pytest.mark.parametrize("client", ["curl", "wget"])
@pytest.mark.parametrize("name", UNSOUND)
def test_an_address_that_is_none_gets_nothing(dash: LinuxMachine, sink: Sink, name: str, client: str) -> None:
    """Whatever is wrong with an address is not taken out of it: nothing is sent, and the console says why."""
    prepare(dash, sink.address, note("m"), paths=(UNSOUND[name], LOGS_PATH))
    assert dash.run(ENTRY if client == "curl" else without_curl(dash)) == 0
    wait_for(lambda: "systemctl disable slipway-report" in dash.calls)
    assert sink.requests == 0
    assert not dash.path("/pwned").exists()
    console = dash.path("/dev/console").read_text()
    assert "slipway-report: url is no address of http or https" in console
    assert sink.address not in console


def test_nothing_is_sent_where_only_the_address_of_logs_is_none(dash: LinuxMachine, sink: Sink) -> None:
    """It is known before anything is sent, and named."""
    prepare(dash, sink.address, note("m"), paths=(EVENTS_PATH, UNSOUND["a quote"]))
    assert dash.run(ENTRY) == 0
    wait_for(lambda: "systemctl disable slipway-report" in dash.calls)
    assert sink.requests == 0
    assert "slipway-report: logs-url is no address of http or https" in dash.path("/dev/console").read_text()


@pytest.mark.parametrize("address", ["ftp://127.0.0.1:1", "file:///etc", "-o/pwned", "http://"])
def test_another_scheme_gets_nothing(dash: LinuxMachine, sink: Sink, address: str) -> None:
    """Only http and https are tried, by either client."""
    prepare(dash, address, note("m"), paths=("", ""))
    assert dash.run(ENTRY) == 0
    wait_for(lambda: "systemctl disable slipway-report" in dash.calls)
    assert "is no address of http or https" in dash.path("/dev/console").read_text()


def test_an_address_is_taken_as_it_stands(dash: LinuxMachine, sink: Sink) -> None:
    """Brackets are part of it, and no list of addresses."""
    prepare(dash, sink.address, note("m"), paths=("/events?part=[1-2]", LOGS_PATH))
    assert dash.run(ENTRY) == 0
    wait_for(lambda: "systemctl disable slipway-report" in dash.calls)
    assert list(sink.objects) == ["/events?part=[1-2]"]


def test_no_argument_shows_an_address(dash: LinuxMachine, sink: Sink) -> None:
    """Any user of the dash can read the arguments of programs; the addresses are in none, nor in the unit."""
    dash.fake("curl", 'exec /usr/bin/curl "$@"')
    prepare(dash, sink.address, note("m"))
    assert dash.run(ENTRY) == 0
    wait_for(lambda: b"EVENT_STATE_COMPLETE" in sink.objects.get(EVENTS_PATH, b""))
    assert any(call.startswith("curl ") for call in dash.calls)
    assert "s3cret" not in "\n".join(dash.calls) + dash.path(UNIT).read_text()
    for path in dash.path("/var/lib/slipway/report").iterdir():
        assert path.stat().st_mode & 0o077 == 0


def _dead(machine: LinuxMachine, sink: Sink) -> str:
    del machine, sink
    return "http://127.0.0.1:1"


def _hanging(machine: LinuxMachine, sink: Sink) -> str:
    del machine
    sink.hangs = True
    return sink.address


def _refusing(machine: LinuxMachine, sink: Sink) -> str:
    del machine
    sink.status = 403
    return sink.address


def _redirecting(machine: LinuxMachine, sink: Sink) -> str:
    del machine
    sink.status = 307
    return sink.address


def _without_units(machine: LinuxMachine, sink: Sink) -> str:
    machine.path(UNIT).parent.parent.mkdir(parents=True)
    machine.path(UNIT).parent.mkdir()
    machine.path(UNIT).mkdir()
    return sink.address


BROKEN = {
    "nothing listens": _dead,
    "it hangs": _hanging,
    "it refuses": _refusing,
    "it is elsewhere": _redirecting,
    "no unit can be written": _without_units,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("succeeds", [True, False], ids=["a success", "a failure"])
def test_a_dead_sink_costs_nothing(reporter: LinuxMachine, sink: Sink, name: str, *, succeeds: bool) -> None:
    """The same steps, end, record and sentinel, without a wait; nothing is sent to another place."""
    address = BROKEN[name](reporter, sink)
    prepare(reporter, address, note("a", PRE), note("m") if succeeds else script("m", "exit 3"), note("z"))
    start = time.monotonic()
    assert (reporter.run(ENTRY) == 0) is succeeds
    # A client that hangs gives up after two minutes.
    assert time.monotonic() - start < 100
    assert reporter.path("/ran").read_text().split() == (["a", "m", "z"] if succeeds else ["a"])
    assert reporter.path(SENTINEL).exists() is succeeds
    assert '"step":"report","state":"EVENT_STATE_SUCCEEDED"' in reporter.path(EVENTS).read_text()
    assert sink.objects == {}


def test_requests_are_bounded(dash: LinuxMachine, sink: Sink) -> None:
    """A sink that refuses gets 300 requests at most from one start of the service."""
    sink.status = 500
    dash.fake("curl", "exit 22")
    prepare(dash, sink.address, note("m"))
    dash.fake("sleep", "exit 0")
    assert dash.run(ENTRY) == 0

    def requests() -> int:
        return sum(call.startswith("curl ") and "healthz" not in call for call in dash.calls)

    wait_for(lambda: requests() >= 300)
    time.sleep(0.5)
    assert requests() == 300


def test_a_machine_without_a_client_boots_the_same(tmp_path: Path, sink: Sink) -> None:
    """The wget of busybox cannot put."""
    for machine in linux_machine("busybox", tmp_path):
        prepare(machine, sink.address, note("m"))
        assert machine.run(ENTRY) == 0
        assert machine.path(SENTINEL).exists()
        assert sink.objects == {}
        stop(machine)
