"""Reports of a machine to its cluster: a real server with TLS, real shells, and a bootstrap that never notices them."""

import base64
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.bootstrapper.assembly.report_items import add_reporting
from slipway.bootstrapper.credentials.cluster_secrets import BOOTSTRAP_TOKEN, CLUSTER_CA
from slipway.bootstrapper.credentials.generation import CERTIFICATE, TOKEN
from slipway.contract.content import SecretIndex
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb
from tests.bootstrapper.lowering.runners.cluster_api_server import OBJECTS, REVIEWS, ApiServer, Kubelet
from tests.bootstrapper.lowering.runners.conftest import BY_SHELL, linux_machine
from tests.bootstrapper.lowering.runners.events import EVENTS
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import PREPARE, SENTINEL, lowered, note, script
from tests.bootstrapper.lowering.runners.test_literal_commands import JOIN as KUBEADM
from tests.bootstrapper.lowering.runners.test_literal_commands import commands, run_lines
from tests.bootstrapper.lowering.runners.test_reports import ENTRY, stop, wait_for, without_curl

pytestmark = pytest.mark.long

UNIT = "/etc/systemd/system/slipway-cluster-report.service"
JOIN = "mkdir -p /etc/kubernetes; cp /prepared/kubelet.conf /etc/kubernetes/kubelet.conf"
NODE = "worker-1.example"
USER = f"system:node:{NODE}"
TOKEN_TEXT = b"abcdef.0123456789abcdef"
TOKEN_OBJECT = "bootstrap-token-abcdef"
DISABLED = "systemctl disable slipway-cluster-report"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ApiServer]:
    """Give an API server that takes reports."""
    made = ApiServer(tmp_path)
    yield made
    made.close()


@pytest.fixture(params=BY_SHELL[:2])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine that has curl."""
    for made in linux_machine(request.param, tmp_path):
        yield made
        stop(made)


@pytest.fixture
def dash(tmp_path: Path) -> Iterator[LinuxMachine]:
    """Give a machine that has curl."""
    for made in linux_machine("dash", tmp_path):
        yield made
        stop(made)


def report_step(server: ApiServer | None = None) -> planpb.Step:
    """Give the step by which a machine reports to its cluster, with a token for a server."""
    sinks = [specpb.ReportSink(workload_cluster=specpb.WorkloadClusterSink())]
    bundle = bundlepb.BootstrapBundle()
    cluster = clusterpb.Cluster()
    if server is not None:
        cluster.endpoint.host, cluster.endpoint.port = "127.0.0.1", server.server.server_address[1]
    add_reporting(bundle, specpb.Reporting(sinks=sinks), joins_by=None if server is None else cluster)
    (command,) = bundle.commands.pre
    return planpb.Step(id="report", phase=PREPARE, command=command)


def prepare(
    machine: LinuxMachine, kubelet: Kubelet, *steps: planpb.Step, token: bytes = b"", server: ApiServer | None = None
) -> None:
    """Write what a provisioner writes for a machine that reports to its cluster, and what its join would leave.

    With `server` it has a token of it.
    """
    authority = b"" if server is None else server.authority_pem
    secrets = SecretIndex([
        secretpb.Secret(name=BOOTSTRAP_TOKEN, key=TOKEN, value=token),
        secretpb.Secret(name=CLUSTER_CA, key=CERTIFICATE, value=authority),
    ])  # fmt: skip
    machine.write(lowered([report_step(server), *steps]).files, secrets)
    machine.path("/prepared").mkdir()
    kubelet.write(machine.path("/prepared"), as_seen="/prepared")
    machine.path(UNIT).parent.mkdir(parents=True, exist_ok=True)
    starts = f"[ -f {UNIT} ] && SLIPWAY_REPORT=send exec sh /var/lib/slipway/steps/report"
    machine.fake("systemctl", f'case "$*" in *start*) ({starts}) </dev/null >/reporter.log 2>&1 & ;; esac')
    if machine.shell != "busybox":
        machine.fake("sleep", "exec /usr/bin/sleep 0.05")


def test_events_arrive_once_the_machine_has_joined(machine: LinuxMachine, server: ApiServer) -> None:
    """The object has the name of the Node, whatever the host's is, and the events to the last one; few writes do it."""
    prepare(machine, server.kubelet(USER), note("a"), script("j", JOIN), note("z"))
    assert machine.run(ENTRY) == 0
    wait_for(lambda: DISABLED in machine.calls)
    assert server.objects == {NODE: machine.path(EVENTS).read_text()}
    assert "EVENT_STATE_COMPLETE" in server.objects[NODE]
    assert server.refused == 0
    assert 1 <= server.writes <= 6
    assert len(server.requests) == server.writes + 1
    assert server.requests[0] == f"POST {REVIEWS}"
    assert set(server.requests[1:]) == {f"PATCH {OBJECTS}{NODE}?fieldManager=slipway&force=true"}
    assert machine.path(UNIT).stat().st_mode & 0o777 == 0o644


def test_a_failure_before_the_join_arrives_by_the_token(dash: LinuxMachine, server: ApiServer) -> None:
    """A machine whose kubelet has no credential yet writes the object that has its token's id."""
    server.token = TOKEN_TEXT.decode()
    prepare(dash, server.kubelet(USER), script("m", "exit 3"), script("j", JOIN), token=TOKEN_TEXT, server=server)
    assert dash.run(ENTRY) == 1
    wait_for(lambda: "EVENT_STATE_FAILED" in server.objects.get(TOKEN_OBJECT, ""))
    assert server.objects == {TOKEN_OBJECT: dash.path(EVENTS).read_text()}
    assert server.refused == 0
    assert not any("0123456789abcdef" in call for call in dash.calls)


def test_the_token_stays_where_the_user_data_put_it(dash: LinuxMachine, server: ApiServer) -> None:
    """It is in no argument of a program, no event, no report, no log and no further file, be it in base64."""
    server.token = TOKEN_TEXT.decode()
    dash.fake("curl", 'exec /usr/bin/curl "$@"')
    step = "/var/lib/slipway/steps/report"
    prepare(dash, server.kubelet(USER), script("m", "exit 3"), token=TOKEN_TEXT, server=server)
    assert dash.run(ENTRY) == 1
    wait_for(lambda: "EVENT_STATE_FAILED" in server.objects.get(TOKEN_OBJECT, ""))
    assert any(call.startswith("curl ") for call in dash.calls)
    texts = {"calls": "\n".join(dash.calls), "objects": str(server.objects), "requests": str(server.requests)}
    for folder in ("dev", "etc", "run", "tmp", "var"):
        paths = [path for path in (dash.root / folder).rglob("*") if path.is_file() and not path.is_symlink()]
        texts |= {f"/{path.relative_to(dash.root)}": path.read_text() for path in paths}
    texts["/reporter.log"] = dash.path("/reporter.log").read_text()
    secret = TOKEN_TEXT.partition(b".")[2]
    forms = [secret.decode(), base64.b64encode(TOKEN_TEXT).decode()]
    assert [name for name, text in texts.items() if any(form in text for form in forms)] == [step]
    assert dash.path(step).stat().st_mode & 0o777 == 0o600
    kept = dash.path("/var/lib/slipway/report")
    assert [path.name for path in (kept, *kept.iterdir()) if path.stat().st_mode & 0o077] == []


def test_after_the_join_the_node_writes(dash: LinuxMachine, server: ApiServer) -> None:
    """With the kubelet's credential the object is the Node's; it has all events, and few writes do both."""
    server.token = TOKEN_TEXT.decode()
    # The join waits until the token was used.
    join = script("j", f"until [ -e /written ]; do read x </forever || :; done; {JOIN}")
    prepare(dash, server.kubelet(USER), note("a"), join, note("z"), token=TOKEN_TEXT, server=server)
    process = dash.start(ENTRY)
    wait_for(lambda: TOKEN_OBJECT in server.objects)
    dash.path("/written").touch()
    assert process.wait(60) == 0
    wait_for(lambda: DISABLED in dash.calls)
    assert server.objects[NODE] == dash.path(EVENTS).read_text()
    assert "EVENT_STATE_COMPLETE" not in server.objects[TOKEN_OBJECT]
    assert server.refused == 0


def test_many_events_leave_tries_for_the_end(dash: LinuxMachine, server: ApiServer) -> None:
    """A long bootstrap writes twenty times at most before its end, which arrives."""
    server.token = TOKEN_TEXT.decode()
    prepare(dash, server.kubelet(USER), note("a"), token=TOKEN_TEXT, server=server)
    events = dash.path(EVENTS)
    dash.start(["sh", "/var/lib/slipway/steps/report"], {"SLIPWAY_REPORT": "send"})
    for number in range(1, 21):
        with events.open("a") as file:
            file.write('{"state":"EVENT_STATE_STARTED"}\n')
        wait_for(lambda number=number: server.writes == number)
    with events.open("a") as file:
        file.write('{"state":"EVENT_STATE_STARTED"}\n')
    waits = len(dash.calls)
    wait_for(lambda: len(dash.calls) > waits + 2)
    assert server.writes == 20
    with events.open("a") as file:
        file.write('{"state":"EVENT_STATE_COMPLETE"}\n')
    wait_for(lambda: DISABLED in dash.calls)
    assert server.writes == 21
    assert server.objects == {TOKEN_OBJECT: events.read_text()}


@pytest.mark.parametrize("token", [b"abcdef.fedcba9876543210", b"not a token", b'a.b"\nurl = "x', b"a.b", b""])
def test_a_token_that_is_none_costs_nothing(dash: LinuxMachine, server: ApiServer, token: bytes) -> None:
    """A token that the server refuses, or that is of another form, changes nothing of the bootstrap."""
    server.token = TOKEN_TEXT.decode()
    prepare(dash, server.kubelet(USER), note("m"), token=token, server=server)
    assert dash.run(ENTRY) == 0
    assert dash.path(SENTINEL).exists()
    assert server.objects == {}


def test_literal_commands_report_to_the_cluster(dash: LinuxMachine, server: ApiServer) -> None:
    """The lines of an imported config start the same service, and the events are those around the bootstrap."""
    prepare(dash, server.kubelet(USER))
    dash.fake("kubeadm", JOIN)
    run_lines(dash, commands(report_step(), KUBEADM))
    wait_for(lambda: DISABLED in dash.calls)
    assert server.objects == {NODE: dash.path(EVENTS).read_text()}
    assert "EVENT_STATE_COMPLETE" in server.objects[NODE]


def test_a_failure_after_the_join_arrives(machine: LinuxMachine, server: ApiServer) -> None:
    """The service stays enabled for the next boot; the last write has the failure."""
    prepare(machine, server.kubelet(USER), script("j", JOIN), script("m", "exit 3"), note("z"))
    assert machine.run(ENTRY) == 1
    wait_for(lambda: "EVENT_STATE_FAILED" in server.objects.get(NODE, ""))
    assert DISABLED not in machine.calls


def test_nothing_is_written_before_there_is_a_credential(dash: LinuxMachine, server: ApiServer) -> None:
    """A machine that fails before its kubelet has a certificate has its console, and asks no server."""
    prepare(dash, server.kubelet(USER), script("m", "exit 3"), script("j", JOIN))
    assert dash.run(ENTRY) == 1
    wait_for(lambda: sum(call.startswith("sleep") for call in dash.calls) > 5)
    assert server.requests == []


def test_only_the_last_events_are_written(dash: LinuxMachine, server: ApiServer) -> None:
    """However many there are, the object has 8000 bytes; the end of them is whole."""
    prepare(dash, server.kubelet(USER), script("j", JOIN), note("z"))
    dash.path(EVENTS).write_text(f"{'x' * 99}\n" * 100)
    assert dash.run(ENTRY) == 0
    wait_for(lambda: DISABLED in dash.calls)
    events = dash.path(EVENTS).read_text()
    assert len(events) > 8000
    assert server.objects == {NODE: events[-8000:]}


def test_what_is_no_node_writes_nothing(dash: LinuxMachine, server: ApiServer) -> None:
    """Where the credential is not that of a Node there is no object of its name."""
    prepare(dash, server.kubelet("kubernetes-admin"), script("j", JOIN))
    assert dash.run(ENTRY) == 0
    wait_for(lambda: len(server.requests) >= 30)
    assert server.objects == {}
    assert set(server.requests) == {f"POST {REVIEWS}"}


def test_another_authority_gets_nothing(dash: LinuxMachine, server: ApiServer, tmp_path: Path) -> None:
    """The server must have a certificate of the cluster's authority."""
    (tmp_path / "other").mkdir()
    other = ApiServer(tmp_path / "other")
    prepare(dash, server.kubelet(USER, address=other.address), script("j", JOIN))
    dash.fake("curl", 'exec /usr/bin/curl "$@"')
    assert dash.run(ENTRY) == 0
    wait_for(lambda: any(call.startswith("curl ") for call in dash.calls))
    other.close()
    assert other.requests == []


BROKEN = {"nothing listens": "https://127.0.0.1:1", "no TLS": "http://127.0.0.1:1", "it hangs": "", "it refuses": ""}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("succeeds", [True, False], ids=["a success", "a failure"])
def test_a_dead_server_costs_nothing(dash: LinuxMachine, server: ApiServer, name: str, *, succeeds: bool) -> None:
    """The same steps, end, record and sentinel, without a wait."""
    server.hangs = name == "it hangs"
    server.status = 403 if name == "it refuses" else 200
    last = note("m") if succeeds else script("m", "exit 3")
    prepare(dash, server.kubelet(USER, address=BROKEN[name]), script("j", JOIN), last)
    start = time.monotonic()
    assert (dash.run(ENTRY) == 0) is succeeds
    assert time.monotonic() - start < 20
    assert dash.path(SENTINEL).exists() is succeeds
    assert server.objects == {}


def test_requests_are_bounded(dash: LinuxMachine, server: ApiServer) -> None:
    """A server that refuses gets 30 writes at most from one start of the service."""
    server.status = 403
    prepare(dash, server.kubelet(USER), script("j", JOIN), note("m"))
    dash.fake("sleep", "exit 0")
    assert dash.run(ENTRY) == 0
    wait_for(lambda: server.refused >= 30)
    time.sleep(0.5)
    assert server.refused == 30


def test_without_curl_nothing_happens(dash: LinuxMachine, server: ApiServer) -> None:
    """The service switches itself off."""
    prepare(dash, server.kubelet(USER), script("j", JOIN), note("m"))
    assert dash.run(without_curl(dash)) == 0
    wait_for(lambda: DISABLED in dash.calls)
    assert dash.path(SENTINEL).exists()
    assert server.requests == []
