"""Events of literal command lines: only the line of the bootstrap has something around it, and nothing else changes."""

import pytest

from slipway.bootstrapper.lowering.runners.literal_events import EVENT_PROGRAM
from slipway.bootstrapper.lowering.runners.step_data import MARKER, REPORT
from slipway.contract.errors import UnsupportedFeature
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.events import CONSOLE, EVENTS, events, short
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import POST, PRE, PREPARE, SENTINEL, lowered, script
from tests.bootstrapper.lowering.runners.test_literal_commands import (
    IGNITION,
    IGNITION_JOIN,
    JOIN,
    JOIN_LINE,
    commands,
    lines,
    run_lines,
)

ORIGIN = diagnosticpb.Origin(made_by=[REPORT], path="spec.reporting")
ASKED = planpb.Step(id="pre-0", phase=PREPARE, command=planpb.Command(argv=MARKER, origin=ORIGIN))
SENT = script("pre-0", "echo report >>/sent || true", PREPARE, origin=ORIGIN)
WRITE = f"/bin/sh {EVENT_PROGRAM} 20-kubeadm"
USERS = {
    "commands": ("echo pre >>/ran", "echo post $? >>/ran"),
    "a shell that ends at a failure": ("set -e", "echo post $? >>/ran"),
    "variables, umask and folder": ("x=1; umask 027; cd /tmp", "echo $x $(umask) $(pwd) $# >>/ran"),
    "a block over all lines": ("if true; then", "fi; echo post $? >>/ran"),
    "a list that goes on": ("true &&", "echo post $? >>/ran"),
    "a list that ends before": ("false &&", "echo post $? >>/ran"),
    "a pipe": ("echo words |", "echo post $? >>/ran"),
    "no search path": ("PATH=/fake", "echo post $? >>/ran"),
    "a job in the background": ("true & p=$!", "[ $! = $p ]; echo post $? >>/ran"),
}


def test_only_the_line_of_the_bootstrap_changes() -> None:
    """The user's lines stay, no line is added, and the literal line stands in the group as it was."""
    users = [script("a", "echo a", PRE), script("z", "echo z", POST)]
    result = commands(ASKED, *users, JOIN)
    assert lines(result) == ["echo a", f"{{ {WRITE} && :; {JOIN_LINE}; {WRITE} $? && :; }}", "echo z"]
    assert [file.path for file in result.files] == [EVENT_PROGRAM, "/run/cluster-api/placeholder"]
    assert lines(commands(*users, JOIN)) == ["echo a", JOIN_LINE, "echo z"]


@pytest.mark.parametrize("status", [0, 3])
@pytest.mark.parametrize("name", USERS)
def test_the_machine_is_the_same(machine: LinuxMachine, name: str, status: int) -> None:
    """Whatever stands before and behind it: the same commands run, with the same variables and exit status."""
    machine.fake("kubeadm", f"cat >>/ran; echo kubeadm >>/ran; exit {status}")
    before, after = USERS[name]
    outcomes = []
    for steps in ([], [ASKED]):
        result = commands(*steps, script("a", before, PRE), script("z", after, POST), JOIN)
        machine.path("/ran").write_text("")
        machine.path(SENTINEL).unlink(missing_ok=True)
        run_lines(machine, result)
        outcomes.append((machine.path("/ran").read_text(), machine.path(SENTINEL).exists()))
    assert outcomes[0] == outcomes[1]
    assert "kubeadm" in outcomes[0][0] or name == "a list that ends before"


@pytest.mark.parametrize(
    ("status", "before", "after"),
    [(0, "20-kubeadm succeeded, ", ", complete"), (3, "", ", 20-kubeadm failed 3 CommandFailed")],
    ids=["a success", "a failure"],
)
def test_events_of_the_bootstrap(machine: LinuxMachine, status: int, before: str, after: str) -> None:
    """They are those of the runner, on the console and in the file, and obey the contract."""
    machine.fake("kubeadm", f"exit {status}")
    machine.path("/var/lib/kubelet").mkdir()
    machine.is_alone = True
    run_lines(machine, commands(ASKED, script("a", "echo s3cret", PRE), JOIN))
    observed = "20-kubeadm observed KubeletNotHealthy, 20-kubeadm observed ContainerRuntimeNotRunning"
    assert short(events(machine)) == f"20-kubeadm started, {before}{observed}{after}"
    assert {message.phase for message in events(machine) if message.step} == {planpb.PHASE_BOOTSTRAP}
    assert {message.bundle_id for message in events(machine)} == {"bundle-1"}
    assert machine.path(EVENTS).read_text() == machine.path(CONSOLE).read_text()
    assert machine.path(EVENTS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("status", [0, 3])
def test_events_that_cannot_be_written_change_nothing(machine: LinuxMachine, status: int) -> None:
    """Without the program, the file and the console the same lines run, with the same status."""
    machine.fake("kubeadm", f"echo kubeadm >>/ran; exit {status}")
    result = commands(ASKED, JOIN, script("z", "echo post $? >>/ran", POST))
    for broken in ("", EVENTS, CONSOLE):
        if broken:
            machine.path(broken).unlink(missing_ok=True)
            machine.path(broken).mkdir(parents=True)
        run_lines(machine, result)
    assert machine.path("/ran").read_text() == f"kubeadm\npost {status}\n" * 3
    assert machine.path(SENTINEL).exists() is (status == 0)


def test_reports_are_started_before_the_first_line(machine: LinuxMachine) -> None:
    """What sends them is a line of its own in front, whose failure is not one of the bootstrap."""
    machine.fake("kubeadm")
    result = commands(SENT, script("a", "echo $? >>/sent", PRE), JOIN)
    run_lines(machine, result)
    assert machine.path("/sent").read_text() == "report\n0\n"
    assert short(events(machine)) == "20-kubeadm started, 20-kubeadm succeeded, complete"


def test_the_one_script_has_no_events() -> None:
    """Who wants reports sent is refused by the field; who asks for the console only has the script of today."""
    with pytest.raises(UnsupportedFeature) as caught:
        lowered([SENT, IGNITION_JOIN], IGNITION)
    assert [violation.path for violation in caught.value.violations] == ["spec.reporting"]
    assert lowered([ASKED, IGNITION_JOIN], IGNITION) == lowered([IGNITION_JOIN], IGNITION)


def test_the_runner_does_not_run_the_request() -> None:
    """A plan that lines cannot express has the runner, which reports anyway."""
    again = planpb.Step()
    again.CopyFrom(JOIN)
    again.command.retries = 1
    assert commands(ASKED, again) == commands(again)


def test_a_line_that_goes_on_in_that_of_the_bootstrap_is_refused() -> None:
    """What stands before it in the same command would apply to the group; the field says which line it is."""
    origin = diagnosticpb.Origin(path="spec.preKubeadmCommands[0]")
    before = script("a", "env A=b \\", PRE, origin=origin)
    with pytest.raises(UnsupportedFeature) as caught:
        commands(ASKED, before, JOIN)
    assert [violation.path for violation in caught.value.violations] == ["spec.preKubeadmCommands[0]"]
    commands(before, JOIN)
