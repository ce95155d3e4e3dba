"""machineadm.exe, really run: the tables of the executors for Linux, by the Windows of Wine.

What stands in for PowerShell, the scheduler and the shutdown is a fake; processes, job objects, files and the serial
port are Wine's. The steps in which files and packages come are PowerShell, which Wine has not: they are not run.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from slipway.v1alpha1 import report_pb2 as reportpb
from tests.bootstrapper.lowering.runners.events import CONSOLE, EVENTS, events, short
from tests.bootstrapper.lowering.runners.plans import SENTINEL, STATE
from tests.bootstrapper.lowering.runners.test_events import CASES, Case
from tests.bootstrapper.lowering.runners.test_executors import STEPS, TABLE, Change
from tests.bootstrapper.lowering.runners.test_linux_runner import HOSTILE, POLICIES
from tests.machineadm.windows_programs import compile_programs
from tests.machineadm.wine_machine import Seen, play
from tests.machineadm.wine_machines import BOUNDARIES, machines
from tools.oracles import machineadm, roots, sandbox

pytestmark = [pytest.mark.engine, pytest.mark.timeout(3600), pytest.mark.xdist_group("wine")]
Played = Mapping[str, Sequence[Seen]]


@pytest.fixture(scope="module")
def played(engine: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """Play all machines."""
    engine("wine", machineadm.NAME)
    programs = compile_programs(tmp_path_factory.mktemp("windows"))
    with sandbox.opened(roots.ROOTS["wine"].require(), hostname="node-1") as machine:
        yield play(machines(), machine, programs)


@pytest.mark.parametrize("case", CASES, ids=[case.says for case in CASES])
def test_events_of_a_step(played: Played, case: Case) -> None:
    """The table of events: file and serial port have the same lines, and each obeys the contract."""
    (seen,) = played[f"event: {case.says}"]
    reported = events(seen)
    prepared = ["slipway-resume"] if case.step.command.reboot else []
    before = [f"{step} {state}" for step in [*prepared, "a"] for state in ("started", "succeeded")]
    expected = case.expected.replace("failed CommandTimedOut", "failed 124 CommandTimedOut")
    assert short(reported) == ", ".join([*before, expected])
    assert {event.executor for event in reported} == {reportpb.EXECUTOR_MACHINEADM}
    assert {event.hostname for event in reported} == {"node-1"}
    assert seen.path(EVENTS).read_text() == seen.path(CONSOLE).read_text()


@pytest.mark.parametrize("row", TABLE, ids=[row.says for row in TABLE])
def test_it_goes_on_where_it_stopped(played: Played, row: Change) -> None:
    """The table of changes: what was kept means the same in the same boot and in the next one."""
    first, again, later = played[f"change: {row.says}"]
    assert (first.code == 0, " ".join(first.ran())) == row.first
    assert (again.code == 0, " ".join(again.ran())) == row.first, "in the same boot"
    assert (later.code == 0, " ".join(later.ran())) == row.second
    assert later.path(SENTINEL).exists() == row.sentinel
    assert sorted(path.stem for path in later.path(STATE).glob("*.failed")) == list(row.failed)
    assert short(event for event in events(later) if event.step == "m") == row.events
    reboots = ["shutdown /r /f /t 0"] if row.step.command.reboot else []
    assert [line for line in later.lines("/calls") if line.startswith("shutdown")] == reboots


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_power_cut_between_two_steps(played: Played, boundary: int) -> None:
    """Before and behind every step, and before the sentinel: each step runs once, and the run ends in success."""
    cut, later = played[f"cut at {boundary}"]
    assert cut.path("/cut").exists()
    assert cut.ran() == ["a", "b", "c"][: boundary // 2]
    assert not cut.path(SENTINEL).exists()
    assert later.code == 0
    assert later.ran() == ["a", "b", "c"]
    assert later.path(SENTINEL).read_text() == "success\n"
    assert sorted(path.name for path in later.path(STATE).iterdir()) == ["a.done", "b.done", "c.done"]
    reported = events(later)
    assert [event.sequence for event in reported] == list(range(1, len(reported) + 1))
    assert short(reported[-1:]) == "complete"


@pytest.mark.parametrize("inside", [step.id for step in STEPS])
def test_power_cut_in_mid_step(played: Played, inside: str) -> None:
    """The step that was running runs again, and no other does."""
    cut, later = played[f"cut in {inside}"]
    assert cut.ran()[-1] == inside
    assert later.code == 0
    assert later.ran() == sorted(["a", "b", "c", inside])
    assert later.path(SENTINEL).exists()


def test_a_step_that_fails_while_the_system_goes_down_runs_again(played: Played) -> None:
    """Its failure does not count: machineadm waits to be ended with the system, and the next boot runs it again."""
    cut, later = played["going down"]
    assert cut.ran() == ["a"]
    assert not list(cut.path(STATE).glob("*.*"))
    assert short(events(cut)) == "a started"
    assert later.code == 0
    assert later.ran() == ["a", "a", "b"]


@pytest.mark.parametrize("row", POLICIES, ids=[row[0] for row in POLICIES])
def test_legacy_policies(played: Played, row: tuple[Any, ...]) -> None:
    """What runs after a failure, and whether the sentinel is there, is as the imported format has it."""
    reason, _, failing, expected, sentinel = row
    (seen,) = played[f"policy: {reason}"]
    assert (seen.code == 0) == (sentinel and "late" in expected)
    assert seen.ran() == expected
    assert seen.path(SENTINEL).exists() == sentinel
    assert seen.path(f"{STATE}/{failing}.failed").exists()


def test_hostile_arguments_arrive_as_they_are(played: Played) -> None:
    """Every argument reaches the program as it is, and no shell interprets any of it."""
    (seen,) = played["hostile"]
    assert seen.code == 0
    assert json.loads(seen.path("/arguments").read_text()) == HOSTILE


def test_a_failure_leaves_a_record_with_the_end_of_the_output(played: Played) -> None:
    """The record has the event, then at most 4096 bytes; nothing runs behind it."""
    (seen,) = played["noisy"]
    assert seen.code == 1
    first, tail = seen.path(f"{STATE}/noisy.failed").read_bytes().decode().split("\n", 1)
    event = json.loads(first)
    assert (event["phase"], event["step"], event["exitCode"]) == ("PHASE_PRE", "noisy", 9)
    assert tail.endswith("line-900\r\nlast-words\r\n")
    assert len(tail) == 4096
    assert seen.ran() == []


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("secret", "quiet started, quiet retrying 3, quiet failed 3 CommandFailed"),
        ("secret, cut", "quiet started"),
    ],
)
def test_a_secret_is_in_no_event_and_no_log(played: Played, name: str, reported: str) -> None:
    """A step prints its secret to both streams, and fails or is cut: only what the plan has written holds it."""
    (seen,) = played[name]
    assert short(events(seen)) == reported
    assert "s3cret" not in seen.output + seen.path(CONSOLE).read_text()
    files = [path for path in seen.disk.rglob("*") if path.is_file()]
    assert [path.name for path in files if b"s3cret" in path.read_bytes()] == ["quiet.cmd"]


def test_a_timeout_ends_the_whole_tree(played: Played) -> None:
    """Nothing that the step has started lives on."""
    (seen,) = played["timeout"]
    assert short(events(seen)) == "m started, m failed 124 CommandTimedOut"
    assert not [word for word in seen.processes if "linger" in word]


def test_what_a_step_leaves_running_goes_on(played: Played) -> None:
    """A step that ends in time may have started a daemon: it is not ended with the step."""
    (seen,) = played["daemon"]
    assert seen.code == 0
    assert [word for word in seen.processes if "linger" in word]


def test_other_commands_change_nothing(played: Played) -> None:
    """Version, dry run and status print what they do on Linux, with the same exit codes; no step runs."""
    version, dry, waiting, run, failed = played["looking"]
    assert (version.code, dry.code, waiting.code, run.code, failed.code) == (0, 0, 3, 1, 1)
    assert "windows/amd64" in version.output
    assert "pre a: would run" in dry.output
    assert (waiting.ran(), run.ran()) == ([], ["a"])
    assert "bundle-1: failed\npre a: done\nbootstrap b: failed" in failed.output
