"""Events of literal commands: something around one line, or around the unit of a script, and nothing else changes."""

import shutil
import subprocess
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.literal_events import DROP_IN, EVENT_PROGRAM
from slipway.bootstrapper.lowering.runners.lower_steps import LoweredSteps
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


def unit_lines(result: LoweredSteps) -> list[tuple[str, list[str]]]:
    """Give what the unit of the one script runs beside it: name of the setting and words."""
    (drop_in,) = [each for each in result.entrypoint.drop_ins if each.name == DROP_IN]
    section, *settings = drop_in.contents.splitlines()
    assert section == "[Service]"
    pairs = [line.partition("=-")[::2] for line in settings]
    return [(name, line.split()) for name, line in pairs]


def run_unit(machine: LinuxMachine, result: LoweredSteps, *, goes_down: bool = False) -> None:
    """Do as systemd does with a unit of type oneshot that stays active, and with a stop behind it."""
    machine.write(result.files)
    machine.path("/etc/kubeadm.yml").touch()
    machine.fake("systemctl", f"[ $1 != is-system-running ] || echo {'stopping' if goes_down else 'starting'}")
    run_settings(machine, result, "ExecStartPre", {})
    status = machine.run(result.entrypoint.argv)
    if status == 0:
        run_settings(machine, result, "ExecStartPost", {})
    ended = {"SERVICE_RESULT": "success" if status == 0 else "exit-code", "EXIT_CODE": "exited"}
    run_settings(machine, result, "ExecStopPost", {**ended, "EXIT_STATUS": str(status)})


def run_settings(machine: LinuxMachine, result: LoweredSteps, name: str, environment: dict[str, str]) -> None:
    """Run the lines of one setting; how they end is ignored."""
    for setting, words in unit_lines(result):
        if setting == name:
            machine.start(words, environment).communicate(timeout=60)


def test_the_one_script_stays_as_it_is() -> None:
    """Its unit gets a drop-in for any sink; the script of today is there to the byte, and no other drop-in changes."""
    users = [script("a", "echo a", PRE), script("z", "echo z", POST), IGNITION_JOIN]
    before = lowered(users, IGNITION)
    for request in (ASKED, SENT):
        after = lowered([request, *users], IGNITION)
        assert [file for file in after.files if file.path == "/etc/kubeadm.sh"] == list(before.files)
        assert [each for each in after.entrypoint.drop_ins if each.name != DROP_IN] == list(before.entrypoint.drop_ins)
        assert after.entrypoint.argv == before.entrypoint.argv
        own = {file.path for file in after.files} - {"/etc/kubeadm.sh"}
        assert own == {EVENT_PROGRAM} | ({"/var/lib/slipway/steps/pre-0"} if request is SENT else set())


@pytest.mark.parametrize(
    ("failing", "expected"),
    [
        ("nothing", "20-kubeadm started, 20-kubeadm succeeded, complete"),
        ("pre", "20-kubeadm started, 20-kubeadm failed 3 CommandFailed"),
        ("kubeadm", "20-kubeadm started, 20-kubeadm failed 3 CommandFailed"),
        ("post", "20-kubeadm started, 20-kubeadm tolerated 3 CommandFailed, complete"),
        ("early", "20-kubeadm started, 20-kubeadm failed CommandFailed"),
    ],
)
def test_events_of_the_one_script(machine: LinuxMachine, failing: str, expected: str) -> None:
    """Any line that fails is reported, one behind the success as tolerated; so is a script that ends too early."""
    if machine.shell == "busybox":
        pytest.skip("the script of today is for bash")
    machine.is_alone = True
    machine.fake("kubeadm", f"[ kubeadm != {failing} ] || exit 3")
    early = "exit 0" if failing == "early" else "true"
    users = [script(name, f"[ {name} != {failing} ] || exit 3\n{early}", phase)
             for name, phase in (("pre", PRE), ("post", POST))]  # fmt: skip
    run_unit(machine, lowered([ASKED, *users, IGNITION_JOIN], IGNITION))
    assert short(events(machine)) == expected
    assert {message.phase for message in events(machine) if message.step} == {planpb.PHASE_BOOTSTRAP}
    assert machine.path(EVENTS).read_text() == machine.path(CONSOLE).read_text()


def test_a_script_that_ends_with_the_system_has_no_failure(machine: LinuxMachine) -> None:
    """It runs again on the next boot."""
    machine.is_alone = True
    machine.fake("kubeadm", "exit 3")
    result = lowered([ASKED, IGNITION_JOIN], IGNITION)
    result.entrypoint.argv[:] = ["sh", "-c", "exit 143"]
    run_unit(machine, result, goes_down=True)
    assert short(events(machine)) == "20-kubeadm started"


@pytest.mark.parametrize(
    ("result", "status", "expected"),
    [
        ("signal", "KILL", "20-kubeadm failed 137 CommandFailed"),
        ("signal", "SYS", "20-kubeadm failed CommandFailed"),
        ("timeout", "TERM", "20-kubeadm failed 143 CommandTimedOut"),
        ("success", "0", ""),
    ],
)
def test_how_systemd_says_that_a_unit_ended(machine: LinuxMachine, result: str, status: str, expected: str) -> None:
    """A signal has the number of the contract where it is a common one; a success is not reported twice."""
    machine.is_alone = True
    lowering = lowered([ASKED, IGNITION_JOIN], IGNITION)
    machine.write(lowering.files)
    run_settings(machine, lowering, "ExecStopPost", {"SERVICE_RESULT": result, "EXIT_STATUS": status})
    assert short(events(machine)) == expected if expected else not machine.path(EVENTS).exists()


def test_what_sends_is_started_before_the_script(machine: LinuxMachine) -> None:
    """By the unit, so that the script need not live to do it."""
    result = lowered([SENT, IGNITION_JOIN], IGNITION)
    machine.write(result.files)
    assert [words[-1] for _, words in unit_lines(result)][:2] == ["/var/lib/slipway/steps/pre-0", "20-kubeadm"]
    run_settings(machine, result, "ExecStartPre", {})
    assert machine.path("/sent").read_text() == "report\n"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_drop_in(tmp_path: Path) -> None:
    """Its own parser has no remark on it."""
    (drop_in,) = [each for each in lowered([SENT, IGNITION_JOIN], IGNITION).entrypoint.drop_ins if each.name == DROP_IN]
    unit = tmp_path / "kubeadm.service"
    contents = drop_in.contents.replace("/bin/sh /", "/bin/sh -n /")
    unit.write_text(f"[Unit]\nDefaultDependencies=no\n[Service]\nType=oneshot\nExecStart=/bin/true\n{contents}")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


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
