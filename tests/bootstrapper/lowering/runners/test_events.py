"""What each executor reports: the same events, in a private file and on the console, whatever happens to either."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import report_pb2 as reportpb
from tests.bootstrapper.lowering.runners.conftest import AGENT, MARKS, linux_machine
from tests.bootstrapper.lowering.runners.events import CONSOLE, EVENTS, events, short
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import POST, PRE, SENTINEL, lowered, note, script
from tools.oracles import machineadm

pytestmark = pytest.mark.long

ENTRY = ["/bin/sh", RUN_PROGRAM]
CONTINUE = planpb.FAILURE_POLICY_CONTINUE
ALL_GO_ON = planpb.ExecutionPolicy(
    on_pre_failure=CONTINUE, on_bootstrap_failure=CONTINUE, on_post_failure=CONTINUE,
    sentinel=planpb.SENTINEL_TIME_AFTER_BOOTSTRAP,
)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One line of the table.

    Attributes:
        says: what it proves.
        step: a step, with one before and one behind it.
        expected: the events of the step, and of all behind it.
        policy: the imported policy.
    """

    says: str
    step: planpb.Step
    expected: str
    policy: planpb.ExecutionPolicy | None = None


def limited(seconds: int, text: str) -> planpb.Step:
    """Give a step with a time limit."""
    step = script("m", text)
    step.command.timeout.FromSeconds(seconds)
    return step


CASES = [
    Case("success", note("m"), "m started, m succeeded, z started, z succeeded, complete"),
    Case("a failure ends it", script("m", "exit 3"), "m started, m failed 3 CommandFailed"),
    Case(
        "each try that is followed by another one",
        script("m", "echo >>/tried; [ $(wc -l </tried) = 3 ] || exit 4", retries=5),
        "m started, m retrying 4, m retrying 4, m succeeded, z started, z succeeded, complete",
    ),
    Case("a reboot is the last word", note("m", reboot=True), "m started, m rebooting"),
    Case("the reason of a time limit", limited(1, "exec sleep 60 & wait"), "m started, m failed CommandTimedOut"),
    Case("a code of the step's own, in time", limited(60, "exit 3"), "m started, m failed 3 CommandFailed"),
    Case("the same code without a limit", script("m", "exit 124"), "m started, m failed 124 CommandFailed"),
    Case(
        "no room for what was done",
        script("m", "rm -r /var/lib/slipway/state"),
        "m started, m failed 74 StateNotWritten",
    ),
    Case(
        "a failure that is tolerated",
        script("m", "exit 3", PRE),
        "m started, m tolerated 3 CommandFailed, complete, z started, z succeeded",
        ALL_GO_ON,
    ),
    Case(
        "a failed bootstrap that goes on without success",
        script("m", "exit 3"),
        "m started, m failed 3 CommandFailed, z started, z succeeded",
        ALL_GO_ON,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=[case.says for case in CASES])
def test_events_of_a_step(executor: LinuxMachine, case: Case) -> None:
    """The table, by each executor: file and console have the same lines, and each obeys the contract."""
    real = "/bin/sleep" if executor.shell != "busybox" else "/bin/busybox sleep"
    executor.fake("sleep", f'[ "$1" != 60 ] || exec {real} 60')
    executor.write(lowered([note("a", PRE), case.step, note("z", POST)], case.policy).files)
    executor.run(ENTRY)
    messages = events(executor)
    prepared = ["slipway-resume"] if case.step.command.reboot else []
    before = [f"{step} {state}" for step in [*prepared, "a"] for state in ("started", "succeeded")]
    reported = short(messages).replace("failed 124 CommandTimedOut", "failed CommandTimedOut")
    reported = reported.replace("failed 143 CommandTimedOut", "failed CommandTimedOut")
    assert reported == ", ".join([*before, case.expected])
    assert executor.path(EVENTS).read_text() == executor.path(CONSOLE).read_text()


def test_what_an_event_holds(executor: LinuxMachine) -> None:
    """Bundle, place, time, host name, executor and phase; the file is for root only, whatever the umask is."""
    executor.write(lowered([note("a", PRE), note("m")]).files)
    before = datetime.now(UTC) - timedelta(seconds=1)
    executor.run(["/bin/sh", "-c", 'umask 000; exec "$@"', "sh", *ENTRY] if executor.agent is None else ENTRY)
    messages = events(executor)
    assert [message.sequence for message in messages] == [1, 2, 3, 4, 5]
    assert {message.bundle_id for message in messages} == {"bundle-1"}
    assert {message.hostname for message in messages} == {"node-1.example"}
    own = reportpb.EXECUTOR_SHELL if executor.agent is None else reportpb.EXECUTOR_MACHINEADM
    assert {message.executor for message in messages} == {own}
    phases = [planpb.PHASE_PRE] * 2 + [planpb.PHASE_BOOTSTRAP] * 2 + [planpb.PHASE_UNSPECIFIED]
    assert [message.phase for message in messages] == phases
    times = [message.time.ToDatetime(UTC) for message in messages]
    assert times == sorted(times)
    assert before <= times[0] <= times[-1] <= datetime.now(UTC)
    assert stat.S_IMODE(executor.path(EVENTS).stat().st_mode) == 0o600


def test_the_lock_is_a_lock_only(machine: LinuxMachine) -> None:
    """What the runner's own programs print is not in its lock, which is empty; the last event is beside it."""
    machine.write(lowered([note("m")]).files)
    machine.run(ENTRY)
    if machine.shell != "busybox":
        assert machine.path("/run/slipway/lock").read_text() == ""
    assert machine.path("/run/slipway/f").read_text() == machine.path(EVENTS).read_text().splitlines(keepends=True)[-1]


def test_no_output_no_argument_and_no_script_is_in_an_event(executor: LinuxMachine) -> None:
    """A step that prints a secret to both streams, and holds it in its text, leaves nothing of it in its events."""
    text = "echo s3cret >&2; echo s3cret; exit 3"
    executor.write(lowered([script("m", text, retries=1)]).files)
    executor.run(ENTRY)
    for path in (EVENTS, CONSOLE):
        assert "s3cret" not in executor.path(path).read_text()
        assert "failed 3" in short(events(executor, path))


def test_the_numbers_go_on_behind_a_line_that_was_cut(executor: LinuxMachine) -> None:
    """A power cut in mid-line leaves half of it; the events behind it have their own numbers, and none is lost."""
    executor.write(lowered([note("m")]).files)
    executor.path(EVENTS).write_text('{"bundleId":"bundle-1"}\n{"bundleId":"bun')
    assert executor.run(ENTRY) == 0
    assert [message.sequence for message in events(executor, CONSOLE)] == [2, 3, 4]


def _make_console_a_folder(machine: LinuxMachine) -> None:
    machine.path(CONSOLE).unlink()
    machine.path(CONSOLE).mkdir()


BROKEN: dict[str, Callable[[LinuxMachine], None]] = {
    "the file is a folder": lambda machine: machine.path(EVENTS).mkdir(),
    "the file is a link to nowhere": lambda machine: machine.path(EVENTS).symlink_to("/no/folder"),
    "there is no console": lambda machine: machine.path(CONSOLE).unlink(),
    "the console is a folder": _make_console_a_folder,
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("succeeds", [True, False], ids=["a success", "a failure"])
def test_an_event_that_cannot_be_written_changes_nothing(executor: LinuxMachine, name: str, *, succeeds: bool) -> None:
    """The same steps run, with the same end and the same record; where one of the two places is left, it has all."""
    step = note("m") if succeeds else script("m", "echo words; exit 3")
    executor.write(lowered([note("a", PRE), step, note("z", POST)]).files)
    BROKEN[name](executor)
    assert (executor.run(ENTRY) == 0) is succeeds
    assert executor.path("/ran").read_text().split() == (["a", "m", "z"] if succeeds else ["a"])
    assert executor.path(SENTINEL).exists() is succeeds
    expected = "a started, a succeeded, m started, m "
    expected += "succeeded, z started, z succeeded, complete" if succeeds else "failed 3 CommandFailed"
    assert short(events(executor, CONSOLE if "file" in name else EVENTS)) == expected
    if not succeeds:
        (record,) = executor.path("/var/lib/slipway/state/bundle-1").glob("*.failed")
        assert record.read_text().endswith('"reason":"CommandFailed"}\nwords\n')


@pytest.mark.parametrize("name", ["dash", pytest.param(AGENT, marks=MARKS[AGENT])])
def test_a_console_that_takes_nothing_holds_a_bootstrap_up_once(
    name: str, tmp_path: Path, engine: Callable[..., None]
) -> None:
    """A console that blocks is given up after nine seconds, for all events together; the file has them all."""
    if name == AGENT:
        engine(AGENT)
    for machine in linux_machine("dash", tmp_path):
        machine.agent = machineadm.require() if name == AGENT else None
        machine.is_alone = True
        machine.write(lowered([note("a", PRE), note("m"), note("z", POST)]).files)
        machine.path(CONSOLE).unlink()
        os.mkfifo(machine.path(CONSOLE))
        start = datetime.now(UTC)
        assert machine.run(ENTRY) == 0
        assert datetime.now(UTC) - start < timedelta(seconds=18)
        assert short(events(machine)).endswith("z succeeded, complete")


def test_a_host_name_of_any_bytes_makes_no_other_event(machine: LinuxMachine) -> None:
    """Quotes, line ends and what is no ASCII are left out of it."""
    if machine.shell == "busybox":
        pytest.skip("there can be no fake of uname")
    machine.fake("uname", "printf 'no\"de-1,\\\\\\nx\\303\\244'")
    machine.write(lowered([note("m")]).files)
    assert machine.run(ENTRY) == 0
    assert {message.hostname for message in events(machine)} == {"node-1x"}
