"""What machineadm does where it executes steps: the records that it keeps, timeouts, and its other commands."""

import json
import os
import re
import select
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.runners.linux_file import RUN_PROGRAM
from tests.bootstrapper.lowering.runners.conftest import AGENT, linux_machine
from tests.bootstrapper.lowering.runners.linux_machine import AGENT as AGENT_PROGRAM
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import BOOTSTRAP, POST, PRE, SENTINEL, STATE, lowered, note, script
from tools.oracles import machineadm

ENTRY = ["/bin/sh", RUN_PROGRAM]


RECORDS = {
    "plain": (script("m", "echo words; exit 9"), "words\n"),
    "killed": (script("m", "kill -9 $$", redact_output=True), ""),
    "of a program that is not there": (script("m", "exec /no/such/program 2>/dev/null"), ""),
    "without output": (script("m", "echo words; exit 4", redact_output=True), ""),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_the_same_bytes(tmp_path: Path, engine: Callable[..., None], name: str) -> None:
    """A failure record and the lines on the console differ in time and executor only."""
    engine(AGENT)
    step, tail = RECORDS[name]
    records = set()
    for executor in ("dash", AGENT):
        for machine in linux_machine("dash", tmp_path / executor):
            machine.agent = machineadm.require() if executor == AGENT else None
            machine.is_alone = True
            machine.write(lowered([step]).files)
            machine.run(ENTRY)
            kept = machine.path(f"{STATE}/m.failed")
            assert kept.stat().st_mode & 0o777 == 0o600
            texts = (kept.read_text(), machine.path("/dev/console").read_text())
            records.add(tuple(re.sub(r'"(time|executor)":"[^"]*"', r'"\1":"x"', text) for text in texts))
    ((record, console),) = records
    assert record == console.splitlines(keepends=True)[-1] + tail
    assert [json.loads(line)["step"] for line in console.splitlines()] == ["m", "m"]


@pytest.fixture
def agent(tmp_path: Path, engine: Callable[..., None]) -> Iterator[LinuxMachine]:
    """Give a machine whose steps machineadm executes."""
    engine(AGENT)
    for machine in linux_machine("dash", tmp_path):
        machine.agent = machineadm.require()
        machine.is_alone = True
        yield machine


TREES = {
    "a child": "read x </forever",
    "a grandchild": "(read x </forever) & wait",
    "a session of its own": "setsid sh -c 'read x </forever' & wait",
    "an orphan in a session of its own": "(setsid sh -c 'read x </forever' &); read x </forever",
    "one that ignores the first signal": "trap '' TERM; setsid sh -c 'read x </forever' & read x </forever",
}


@pytest.mark.parametrize("name", TREES)
def test_a_timeout_ends_the_whole_tree(agent: LinuxMachine, name: str) -> None:
    """Nothing that the step has started lives on: all have closed what they held open."""
    os.mkfifo(agent.path("/forever"))
    step = script("m", f"exec 8<>/forever 7>>/held; {TREES[name]}", BOOTSTRAP)
    step.command.timeout.FromSeconds(1)
    agent.write(lowered([step]).files)
    process = agent.start(ENTRY)
    assert process.wait(60) == 1
    held = agent.path("/held").stat()
    assert not [one for one in _open_files() if (one.st_dev, one.st_ino) == (held.st_dev, held.st_ino)]
    assert json.loads(agent.path(f"{STATE}/m.failed").read_text())["exitCode"] == 124


def _open_files() -> Iterator[os.stat_result]:
    for path in Path("/proc").glob("[0-9]*/fd/7"):
        try:
            yield path.stat()
        except OSError:
            continue


def test_what_a_step_leaves_behind_in_time_goes_on(agent: LinuxMachine) -> None:
    """A timeout is no reason to end what a step that has ended in time has started."""
    os.mkfifo(agent.path("/forever"))
    os.mkfifo(agent.path("/told"))
    step = script("m", "(read x </forever; echo $x >/told) &")
    step.command.timeout.FromSeconds(30)
    agent.write(lowered([step]).files)
    assert agent.run(ENTRY) == 0
    agent.path("/forever").write_text("alive\n")
    assert agent.path("/told").read_text() == "alive\n"


def test_a_step_may_replace_the_program_itself(agent: LinuxMachine) -> None:
    """An update of machineadm in mid-run ends nothing: the version that runs goes on to the end."""
    limited = note("b")
    limited.command.timeout.FromSeconds(30)
    replace = f"rm {AGENT_PROGRAM} && echo no program >{AGENT_PROGRAM}"
    agent.write(lowered([script("a", replace, PRE), limited]).files)
    assert agent.run(ENTRY) == 0
    assert agent.path("/ran").read_text() == "b\n"


def test_the_runner_can_hand_over_in_mid_run(agent: LinuxMachine) -> None:
    """Started by `exec` from a runner that holds the lock, it does not wait for itself; steps do not inherit it."""
    os.mkfifo(agent.path("/forever"))
    agent.write(lowered([script("m", "(read x </forever) & echo m >>/ran")]).files)
    agent.path("/run/slipway").mkdir()
    holding = 'exec 9>/run/slipway/lock; flock 9; exec "$@"'
    assert agent.run(["/bin/sh", "-c", holding, "sh", *ENTRY]) == 0
    assert agent.path("/ran").read_text() == "m\n"
    assert agent.run(["/bin/sh", "-c", "exec 9>/run/slipway/lock; flock -n 9"]) == 0
    agent.path("/forever").write_text("")


def test_it_keeps_away_from_a_runner_without_flock(agent: LinuxMachine) -> None:
    """The lock of a shell that has no flock is a link with the number of a process, of the living only."""
    agent.write(lowered([note("m")]).files)
    folder = agent.path("/run/slipway")
    folder.mkdir()
    (folder / "pid").symlink_to(str(os.getpid()))
    waiting = agent.start(ENTRY)
    with pytest.raises(TimeoutError):
        _end_of(waiting.pid, seconds=1)
    assert not agent.path("/ran").exists()
    (folder / "pid").unlink()
    assert waiting.wait(60) == 0
    assert not (folder / "pid").is_symlink()


def _end_of(pid: int, *, seconds: float) -> None:
    """Wait for the end of a process."""
    handle = os.pidfd_open(pid)
    try:
        if not select.select([handle], [], [], seconds)[0]:
            raise TimeoutError
    finally:
        os.close(handle)


def test_what_is_kept_is_for_root_only(agent: LinuxMachine) -> None:
    """Marks, records and logs have the mode 0600, the folders around them 0700."""
    agent.write(lowered([note("a", PRE), script("m", "echo words; exit 1")]).files)
    assert agent.run(ENTRY) == 1
    for top in ("/run/slipway", "/var/lib/slipway/state"):
        for path in (agent.path(top), *agent.path(top).rglob("*")):
            assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("text", ["", "../b\n", "b\n../a pre\n", "b\na pre q\n", "b\na pre\na pre\n", "b\na\n"])
def test_step_data_that_is_not_understood_is_refused(agent: LinuxMachine, text: str) -> None:
    """Nothing runs, there is no success, and the message holds none of the text."""
    agent.write(lowered([note("a")]).files)
    agent.path("/var/lib/slipway/plan").write_text(text)
    process = agent.start(ENTRY)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert err.startswith(b"machineadm: ")
    assert not agent.path("/ran").exists()
    assert not agent.path(SENTINEL).exists()


def test_a_dry_run_tells_everything_and_changes_nothing(agent: LinuxMachine) -> None:
    """It tells each step with what it has; no file comes to be, and no lock is taken."""
    steps = [note("a", PRE, retries=2), note("b", reboot=True), note("c", POST, redact_output=True)]
    agent.write(lowered(steps).files)
    before = sorted(agent.path("/var/lib").rglob("*"))
    process = agent.start([*ENTRY, "--dry-run"])
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert out.decode().splitlines() == [
        "prepare slipway-resume: would run",
        "pre a: would run, up to 3 tries",
        "bootstrap b: would run, then the machine reboots",
        "post c: would run, output is not kept",
    ]
    assert sorted(agent.path("/var/lib").rglob("*")) == before
    assert not list(agent.path("/run").iterdir())


def test_status_tells_what_was_kept(agent: LinuxMachine) -> None:
    """Before, after a failure and at the end it tells each step's state, and its exit code says the same."""
    agent.write(lowered([note("a", PRE), script("m", "[ -e /fixed ]", retry_on_boot=True), note("z", POST)]).files)

    def status() -> tuple[int, str]:
        process = agent.start([AGENT_PROGRAM, "status"])
        out, _ = process.communicate(timeout=60)
        return process.returncode, " ".join(line.rpartition(": ")[2] for line in out.decode().splitlines())

    assert agent.run([*ENTRY, "--dry-run"]) == 0
    assert status() == (3, "waiting waiting waiting waiting waiting")
    assert agent.run(ENTRY) == 1
    assert status() == (1, "failed done done failed waiting")
    agent.boot()
    agent.path("/fixed").touch()
    assert status() == (3, "waiting done done waiting waiting")
    assert agent.run(ENTRY) == 0
    assert status() == (0, "complete done done done done")
