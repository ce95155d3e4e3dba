"""Real cloud-init, both ages: what it leaves of a document, and that what it swallows silently is seen."""

import gzip
import textwrap

import pytest

from tools.oracles import cloud_init, fakes, finding, tree_diff
from tools.oracles.machine_state import Kind
from tools.oracles.sandbox import Command

pytestmark = pytest.mark.engine

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB ops@example"
GOOD = textwrap.dedent(f"""\
    #cloud-config
    users:
    - name: ops
      groups: sudo
      shell: /bin/bash
      sudo: "ALL=(ALL) NOPASSWD:ALL"
      ssh_authorized_keys: ["{KEY}"]
    write_files:
    - path: /etc/val/a.conf
      permissions: '0640'
      owner: root:daemon
      content: "hello\\n"
    runcmd:
    - set -e
    - [kubeadm, init, --config, "a b"]
    - [systemctl, mask, systemd-timesyncd.service]
    - [mkdir, -p, /run/cluster-api]
    - [touch, /run/cluster-api/bootstrap-success.complete]
    """).encode()


@pytest.mark.parametrize("root", ["trixie", "bookworm"])
def test_machine_after_boot(engine, root):
    """A plain document leaves file, user, keys, sudo rule, masked unit; its command was called."""
    engine(f"root-{root}")
    state = cloud_init.run(GOOD, root=root, extra_files=fakes.command("kubeadm"))
    node = state.files["/etc/val/a.conf"]
    assert (node.kind, node.mode, node.owner, node.group) == (Kind.FILE, 0o640, "root", "daemon")
    assert state.content("/etc/val/a.conf") == b"hello\n"
    user = state.users["ops"]
    assert (user.shell, user.groups, user.ssh_keys, user.password) == ("/bin/bash", {"sudo"}, {KEY}, "locked")
    assert state.sudo_rules == {"ops ALL=(ALL) NOPASSWD:ALL"}
    assert state.masked_units == {"systemd-timesyncd.service"}
    assert [call.argv for call in state.calls] == [("kubeadm", "init", "--config", "a b")]
    assert "/run/cluster-api/bootstrap-success.complete" in state.run
    assert (state.status, state.findings, state.hostname) == ("done", (), "node1")


def test_nothing_but_the_document_changes(engine):
    """An empty document leaves no path, user or unit: what the engine does by itself is no result."""
    engine("root-trixie")
    state = cloud_init.run(b"#cloud-config\nusers: []\n")
    assert (dict(state.files), dict(state.run), dict(state.users), state.enabled_units) == (
        {},
        {},
        {},
        frozenset(),
    )


def test_what_is_taken_away(engine):
    """A removed file and a disabled unit are results, too."""
    engine("root-trixie")
    state = cloud_init.run(b"#cloud-config\nruncmd:\n- rm /etc/debian_version\n- systemctl disable ssh.service\n")
    assert "/etc/debian_version" in state.removed
    assert "ssh.service (multi-user.target.wants)" in state.disabled_units


def test_failing_command_stops_the_script(engine):
    """A fake that fails is seen by ``set -e``, and the run is reported as failed."""
    engine("root-trixie")
    state = cloud_init.run(GOOD, extra_files=fakes.command("kubeadm", statuses=[3]))
    assert [call.status for call in state.calls] == [3]
    assert "/run/cluster-api/bootstrap-success.complete" not in state.run
    assert state.status == "error"
    assert finding.errors(state.findings)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        pytest.param(GOOD + b"x: [\n", "broken YAML is swallowed whole", id="yaml"),
        pytest.param(GOOD.replace(b"write_files", b"write_file"), "an unknown key is ignored", id="key"),
        pytest.param(b"## template: jinja\n" + GOOD + b"# ${#a[@]}\n", "a jinja error drops the part", id="jinja"),
        pytest.param(
            GOOD.replace(b"#cloud-config\n", b""), "without its first line a document is nothing", id="header"
        ),
    ],
)
def test_silent_failures_are_seen(engine, document, reason):
    """What cloud-init ignores with status 0 shows as a missing file together with a finding."""
    engine("root-trixie")
    state = cloud_init.run(document, extra_files=fakes.command("kubeadm"))
    assert "/etc/val/a.conf" not in state.files, reason
    assert state.findings, reason


@pytest.mark.parametrize("root", ["trixie", "bookworm"])
def test_schema(engine, root):
    """The schema takes the good document and names the place of a wrong type."""
    engine(f"root-{root}")
    assert cloud_init.validate(GOOD, root=root) == []
    assert cloud_init.validate(gzip.compress(GOOD), root=root) == []
    found = cloud_init.validate(GOOD.replace(b"permissions: '0640'", b"permissions: 416"), root=root)
    assert any("write_files.0.permissions" in str(error) for error in finding.errors(found))


def test_second_boot(engine):
    """Per-instance work is not repeated by a reboot, and ``/run`` starts empty."""
    engine("root-trixie")
    with cloud_init.opened(extra_files=fakes.command("kubeadm")) as machine:
        machine.boot(GOOD)
        machine.boot()
        state = machine.state()
    assert len(state.calls) == 1
    assert "/run/cluster-api/bootstrap-success.complete" not in state.run
    assert "/etc/val/a.conf" in state.files


@pytest.mark.parametrize("root", ["trixie", "bookworm"])
def test_the_stages_are_those_of_the_command(engine, root):
    """cloud-init's own command leaves the same machine, and says the same of it."""
    engine(f"root-{root}")
    states, said = [], []
    for by_command in (True, False):
        with cloud_init.opened(root=root, extra_files=fakes.command("kubeadm")) as machine:
            outcomes = machine.boot(GOOD, by_command=by_command)
            states.append(machine.state())
            said.append(
                [(outcome.argv, outcome.status, bool(outcome.output), outcome.timed_out) for outcome in outcomes]
            )
    assert said[0] == said[1]
    assert tree_diff.everything(*states) == []
    assert states[0].engine_files.keys() == states[1].engine_files.keys()
    assert (states[0].findings, states[0].calls) == (states[1].findings, states[1].calls)


def test_a_stage_that_takes_too_long_is_ended(engine):
    """Alone: the stages behind it are run."""
    engine("root-trixie")
    with cloud_init.opened() as machine:
        outcomes = machine.boot(b"#cloud-config\nbootcmd: [[sleep, '60']]\n", timeout=10)
        state = machine.state()
    assert [outcome.timed_out for outcome in outcomes] == [False, True, False, False]
    assert (state.status, len(finding.errors(state.findings)) > 0) == ("error", True)


def test_facts_reach_the_document(engine):
    """What the cloud tells the machine is there for a jinja document."""
    engine("root-trixie")
    item = b"{path: /etc/fact, content: '{{ ds.meta_data.zone }}'}"
    document = b"## template: jinja\n#cloud-config\nwrite_files:\n- " + item + b"\n"
    state = cloud_init.run(document, machine=cloud_init.MachineFacts(meta_data={"zone": "z-1"}))
    assert state.content("/etc/fact") == b"z-1"


def test_commands_after_the_boot(engine):
    """A test can go on working on the machine that the boot left, with its ``/run``."""
    engine("root-trixie")
    with cloud_init.opened(extra_files=fakes.command("kubeadm")) as machine:
        machine.boot(GOOD)
        (outcome,) = machine.run(Command(("cat", "/run/cluster-api/bootstrap-success.complete", "/etc/val/a.conf")))
    assert (outcome.status, outcome.output) == (0, b"hello\n")
